// Refusals of MCP's own methods: a JSON-RPC error, which the fast path writes and the SDK is thrown.
import type { Era } from './lists.ts'
import { RPC, type RpcError } from './wire.ts'

/** Revisions before 2026-07-28 had a code of its own for a resource that is not there; the newest forbids it. */
export const RESOURCE_NOT_FOUND = -32002

export class RpcRefusal extends Error {
  readonly error: RpcError

  constructor(error: RpcError) {
    super(error.message)
    this.error = error
  }
}

export const invalidParams = (message: string): RpcRefusal =>
  new RpcRefusal({ code: RPC.invalidParams, message })

/** There is no such resource, as far as this connection is told. */
export const noSuchResource = (uri: string, era: Era): RpcRefusal =>
  new RpcRefusal({
    code: era === 'legacy' ? RESOURCE_NOT_FOUND : RPC.invalidParams,
    message: 'There is no such resource. resources/list and resources/templates/list say what there is.',
    data: { uri: uri.slice(0, 256) },
  })
