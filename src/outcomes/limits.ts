// Bounds of a request for an outcome, and the name under which its sources are asked.
export const MAX_SOURCES = 3

/** The product token of RFC 9309: the name by which a site may speak of this gateway. */
export const PRODUCT_TOKEN = 'AgentGateway'
