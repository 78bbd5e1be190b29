// The page's data: gzip in base64, unpacked on first use.

async function unpackText(id) {
  const packed = byId(id);
  const raw = atob(packed.textContent);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

async function unpackJson(id) {
  return JSON.parse(await unpackText(id));
}
