// The answer of POST /v1/inspect: what the transaction is, what the policy says about it, and what is not shown. Pure.
import { type InspectResult, ProtocolName, type SpendReport } from '../../../schemas/commerce.ts'
import { analyse } from '../analysis.ts'
import { readMessage } from '../message.ts'
import type { Layer, Place, TransactionInput } from '../ports.ts'
import type { Policy } from './document.ts'
import { reportFacts } from './facts.ts'
import { type JudgedMessage, judgeMessage } from './judge.ts'
import { POLICY_RULESET_VERSION } from './reasons.ts'
import { createGate, createPlaceGate, listRedactions, readCredentials } from './redact.ts'

/**
 * A transaction judged by itself: no spend window is asked.
 * @param now milliseconds since the epoch
 */
export const inspectTransaction = (input: TransactionInput, policy: Policy, now: number): InspectResult =>
  reportInspection(judgeMessage(analyse(readMessage(input)), policy, now), null)

/** @param spend what the spend windows of the account say of it; null where nobody asked them */
export function reportInspection(judged: JudgedMessage, spend: SpendReport | null): InspectResult {
  const { subject, decision, reasons } = judged
  const { policy } = subject
  const { detection } = subject
  const credentials = readCredentials(subject)
  const gate = createGate(subject, credentials)
  const show = createPlaceGate(gate)
  const { protocol, version, transport, stage, confidence, primary, layers, facts } = detection
  const shownLayers = layers.map((layer) => reportLayer(layer, gate, show))
  return {
    protocol: ProtocolName.parse(protocol),
    version: version && gate(version),
    transport,
    stage: stage && gate(stage),
    confidence,
    // The primary layer is the first.
    evidence: primary === undefined ? [] : (shownLayers[0]?.evidence ?? []),
    layers: shownLayers,
    transaction: reportFacts(facts, gate),
    policy: {
      decision,
      reasons: reasons.map(({ code, severity, path, message: words }) => ({
        code,
        severity,
        path: show(path),
        message: gate(words),
      })),
      ruleset_version: POLICY_RULESET_VERSION,
      policy_source: policy.source,
    },
    redactions: listRedactions(subject, credentials).map((one) => ({ ...one, path: show(one.path) })),
    spend,
    forwarded: false,
  }
}

/** Names in one answer; a message can be made to hold more. */
const MAX_EVIDENCE = 64

const reportLayer = (
  layer: Layer,
  gate: (text: string) => string,
  show: (place: Place) => Place,
): InspectResult['layers'][number] => ({
  name: layer.name,
  version: layer.version && gate(layer.version),
  transport: layer.transport,
  stage: gate(layer.stage),
  confidence: layer.confidence,
  evidence: layer.evidence.slice(0, MAX_EVIDENCE).map(({ mark, at }) => ({ mark: gate(mark), at: show(at) })),
})
