"""A server of both eras, by the official Python SDK. Called by `cargo xtask peers`."""

from mcp.server import MCPServer

server = MCPServer("notes")


@server.tool()
def look(place: str) -> str:
    """Looks at a place."""
    return f"nothing at {place}"


@server.tool()
def send(to: str, body: str) -> str:
    """Sends a letter."""
    return f"sent {len(body)} characters to {to}"


server.run()
