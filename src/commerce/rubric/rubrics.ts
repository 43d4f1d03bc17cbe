// Which rubric a sample is held against, and what of its protocol is read for it.
import type { Layer } from '../ports.ts'
import { readAcp } from '../acp/read.ts'
import { readAp2 } from '../ap2/read.ts'
import { readHttp } from '../protocols/http.ts'
import { readMcp } from '../mcp/read.ts'
import { readMpp } from '../mpp/read.ts'
import { readUcp } from '../ucp/read.ts'
import { readX402 } from '../x402/read.ts'
import { acpRequest, acpWebhook } from '../acp/score.ts'
import { ap2Chain } from '../ap2/score.ts'
import { ap2V01 } from '../ap2/score-v01.ts'
import { type Scored, scoreSample } from './engine.ts'
import { mcpCall } from '../mcp/score.ts'
import type { Rubric, Sample } from './model.ts'
import { mppChallenge, mppPayment, mppReceipt } from '../mpp/score.ts'
import { ucpRequest } from '../ucp/score.ts'
import { x402Payment } from '../x402/score.ts'
import { x402Challenge, x402Settlement } from '../x402/score-server.ts'

/** What /v1/test/schema lists: any of them, whatever facts it takes. */
export const RUBRICS: readonly Pick<Rubric<never>, 'protocol' | 'covers' | 'checks'>[] = [
  x402Payment,
  x402Challenge,
  x402Settlement,
  mppPayment,
  mppChallenge,
  mppReceipt,
  ap2Chain,
  ap2V01,
  ucpRequest,
  acpRequest,
  acpWebhook,
  mcpCall,
]

/** What says something about a protocol, but is no transaction. */
const NO_TRANSACTIONS: ReadonlySet<string> = new Set(['discovery', 'error', 'result'])

/** @returns undefined where no protocol was recognised, or what was is no transaction */
export function scoreByProtocol(sample: Sample): Scored | undefined {
  const layer = sample.detection.primary
  if (!layer || NO_TRANSACTIONS.has(layer.stage)) return undefined
  const { message } = sample
  const score = <F>(rubric: Rubric<F>, facts: F) =>
    scoreSample(rubric, { ...sample, layer, facts, http: readHttp(message) })
  switch (layer.name) {
    case 'x402': {
      const facts = readX402(layer, message)
      if (facts.stage === 'payment') return score(x402Payment, facts)
      return score(facts.stage === 'challenge' ? x402Challenge : x402Settlement, facts)
    }
    case 'mpp': {
      const facts = readMpp(layer, message)
      if (facts.stage === 'payment') return score(mppPayment, facts)
      return score(facts.stage === 'challenge' ? mppChallenge : mppReceipt, facts)
    }
    case 'ap2': {
      const facts = readAp2(layer, message)
      return score(isOfV01(layer, facts.version) ? ap2V01 : ap2Chain, facts)
    }
    case 'ucp':
      return score(ucpRequest, readUcp(layer, message))
    case 'acp': {
      const facts = readAcp(layer, message)
      return score(facts.operation === 'webhook' ? acpWebhook : acpRequest, facts)
    }
    case 'mcp':
      return score(mcpCall, readMcp(layer, message))
    default:
      return undefined
  }
}

const isOfV01 = (layer: Layer, version: string | null) => (version ?? layer.version) === '0.1'
