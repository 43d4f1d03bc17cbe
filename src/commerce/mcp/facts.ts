// The facts of MCP, field by field. A null is a field that is not there or has the wrong type.
import type { Found, JsonObject } from '../ports.ts'

export interface McpFacts {
  readonly id: Found<string> | null
  readonly method: Found<string> | null
  readonly name: Found<string> | null
  readonly arguments: Found<JsonObject> | null
  readonly argumentsAreMalformed: boolean
  readonly version: Found<string> | null
  readonly headerVersion: Found<string> | null
  readonly metaVersion: Found<string> | null
  readonly headerMethod: Found<string> | null
  readonly headerName: Found<string> | null
  readonly sessionId: Found<string> | null
  readonly clientInfo: Found<JsonObject> | null
  readonly traceparent: Found<string> | null
  /** `_meta["x402/idempotency-key"]` or another *idempotency-key*, else the header. */
  readonly idempotencyKey: Found<string> | null
  readonly requestState: Found<string> | null
  readonly hasInputResponses: boolean
}
