// What MCP and A2A make of an answer that REST gives whole: a model reads it, token by token.
import type { CallResult } from '../core/call.ts'
import type { AnyTool } from '../core/registry.ts'

type Answered = Pick<Extract<CallResult, { readonly ok: true }>, 'output' | 'paid'>

export interface MessageAnswer {
  readonly output: unknown
  /** The text of the same, as it is sent; put together when it is asked for. */
  readonly json: () => string
}

/** @param input as it was sent; a call that was answered had one that its tool takes */
export function messageAnswer(tool: AnyTool, input: unknown, { output, paid }: Answered): MessageAnswer {
  if (paid) return { output, json: () => paid.json }
  const shown = tool.inMessages ? tool.inMessages.from(output, input) : output
  return { output: shown, json: () => JSON.stringify(shown) }
}
