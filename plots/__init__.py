"""Pictures of a results document: `figures` draws them with matplotlib, `report` writes a page."""
