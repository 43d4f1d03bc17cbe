// What MCP and A2A make of an answer that REST gives whole: a model reads it, token by token.
import type { CallResult } from '../core/call.ts'
import type { Problem } from '../core/errors.ts'
import type { AnyTool } from '../core/registry.ts'
import { withoutSignature, withoutSignatures, withoutSignatureText } from './receipt-signatures.ts'

type Answered = Pick<Extract<CallResult, { readonly ok: true }>, 'input' | 'output' | 'paid'>

export interface MessageAnswer {
  readonly output: unknown
  /** The text of the same, as it is sent; put together when it is asked for. */
  readonly json: () => string
}

export interface Asked {
  readonly tool: AnyTool
  readonly wantsSignatures: boolean
}

/** The answer of a call in the form for messages: shorter where the tool has such a form, receipts as id and URL unless asked for. */
export function messageAnswer(
  { tool, wantsSignatures }: Asked,
  { input, output, paid }: Answered,
): MessageAnswer {
  if (paid) {
    if (wantsSignatures) return { output, json: () => paid.json }
    return {
      output: withoutSignatures(tool.output, output),
      json: () => withoutSignatureText(paid.json, output),
    }
  }
  const brief = tool.inMessages ? tool.inMessages.from(output, input) : output
  const shown = wantsSignatures ? brief : withoutSignatures(tool.inMessages?.output ?? tool.output, brief)
  return { output: shown, json: () => JSON.stringify(shown) }
}

/** A problem document as messages carry it: some hold the receipt of what was charged. */
export const messageProblem = (problem: Problem, wantsSignatures: boolean): Problem =>
  wantsSignatures || problem['receipt'] === undefined
    ? problem
    : { ...problem, receipt: withoutSignature(problem['receipt']) }
