// Tools, prompts and resources that the official conformance suite calls. Served by the real handler, and only with
// GATEWAY_CONFORMANCE_FIXTURES=1, which production refuses.
import type { Server } from '@modelcontextprotocol/server'
import type { Era, ToolEntry } from './catalogue.ts'
import type { Exchange } from './exchange.ts'
import type { JsonObject, RpcError } from './wire.ts'

export interface FixtureCall {
  readonly era: Era
  readonly params: JsonObject
  readonly exchange: Exchange
}

export type FixtureOutcome =
  { readonly result: JsonObject } | { readonly error: RpcError; readonly status?: number }

export interface Fixtures {
  readonly tools: readonly ToolEntry[]
  readonly capabilities: JsonObject
  /** Undefined when `name` is no fixture. */
  call(name: string, call: FixtureCall): Promise<FixtureOutcome> | undefined
  /** Prompts, resources, completion and logging, on the SDK's server. */
  install(server: Server): void
}

export function createFixtures(): Fixtures {
  return { tools: [], capabilities: {}, call: () => undefined, install() {} }
}
