// Tools that a test adds to the MCP door, such as those of the conformance suite. The product itself has none.
import type { Server } from '@modelcontextprotocol/server'
import type { Era, ToolEntry } from './catalogue.ts'
import type { Exchange } from './exchange.ts'
import type { JsonObject, RpcError } from './wire.ts'

export interface AddedCall {
  readonly era: Era
  readonly params: JsonObject
  readonly exchange: Exchange
}

/** `status` is the HTTP status of an error; 200 where it is left out. */
export type AddedOutcome =
  { readonly result: JsonObject } | { readonly error: RpcError; readonly status?: number }

export interface McpExtension {
  readonly tools: readonly ToolEntry[]
  readonly capabilities: JsonObject
  /** Undefined when `name` is none of its tools. */
  call(name: string, call: AddedCall): Promise<AddedOutcome> | undefined
  /** Takes what a client answers to a request that one of the calls sent. */
  receive(response: JsonObject): void
  /** Adds prompts, resources, completion and logging to the SDK's server. */
  install(server: Server): void
}
