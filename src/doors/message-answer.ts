// What MCP and A2A make of an answer that REST gives whole: a model reads it, token by token.
import type { CallResult } from '../core/call.ts'
import type { Problem } from '../core/errors.ts'
import type { AnyTool } from '../core/registry.ts'
import { isObject } from '../lib/json.ts'
import { fitAnswer } from './long-answer.ts'
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
  /** Not cut, however long it is. */
  readonly wantsWhole?: boolean | undefined
  /** Writes the names of tools in a text of ours as the connection does. */
  readonly spell?: ((text: string) => string) | undefined
}

const asItIs = (text: string) => text

/** The answer of a call in the form for messages: shorter where the tool has such a form, receipts as id and URL unless asked for. */
export function messageAnswer(asked: Asked, { input, output, paid }: Answered): MessageAnswer {
  const { tool, wantsSignatures, wantsWhole = false, spell = asItIs } = asked
  const from = isObject(input) && typeof input['answer_from'] === 'number' ? input['answer_from'] : 0
  if (paid) {
    const shown = wantsSignatures ? output : withoutSignatures(tool.output, output)
    const fitted = wantsWhole
      ? shown
      : fitAnswer(shown, { from: 0, readOn: (next) => spell(readOnPaid(paid.claimId, next)) })
    if (fitted !== shown) return { output: fitted, json: () => JSON.stringify(fitted) }
    return {
      output: shown,
      json: () => (wantsSignatures ? paid.json : withoutSignatureText(paid.json, output)),
    }
  }
  const brief = tool.inMessages ? spelt(tool.inMessages.from(output, input), spell) : output
  const shown = wantsSignatures ? brief : withoutSignatures(tool.inMessages?.output ?? tool.output, brief)
  const readOn = wantsWhole ? undefined : tool.readOn?.(input, output)
  const fitted = readOn ? fitAnswer(shown, { from, readOn: (next) => spell(readOn(next)) }) : shown
  return { output: fitted, json: () => JSON.stringify(fitted) }
}

/** An answer in brief with the sentence that says how it is had whole, and the tools that it lists, in the names of the reader's door. */
function spelt(brief: unknown, spell: (text: string) => string): unknown {
  if (!isObject(brief) || typeof brief['details'] !== 'string') return brief
  const { details, tools } = brief
  const named = (tool: unknown) =>
    isObject(tool) && typeof tool['name'] === 'string' ? { ...tool, name: spell(tool['name']) } : tool
  return { ...brief, details: spell(details), ...(Array.isArray(tools) && { tools: tools.map(named) }) }
}

/** The result is kept for 24 hours for whoever shows the payment. */
const readOnPaid = (claimId: string, next: number) =>
  `Call gateway.payments.get with {"claim_id": "${claimId}", "answer_from": ${next}} and the same payment: nothing is charged again. ` +
  `GET /v1/payments/${claimId} is the whole.`

/** A problem document as messages carry it: some hold the receipt of what was charged. */
export const messageProblem = (problem: Problem, wantsSignatures: boolean): Problem =>
  wantsSignatures || problem['receipt'] === undefined
    ? problem
    : { ...problem, receipt: withoutSignature(problem['receipt']) }
