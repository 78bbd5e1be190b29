"""This machine, for ReFrame, where the file of `dlbench fleet` names no partition."""

site_configuration = {
    "systems": [
        {
            "name": "dlbench",
            "descr": "this machine",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "here",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["builtin"],
                }
            ],
        }
    ],
}
