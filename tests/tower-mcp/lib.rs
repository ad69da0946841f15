//! Nothing but its tests: mcp-sub as a layer over tower-mcp.
