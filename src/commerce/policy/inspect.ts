// The answer of POST /v1/inspect: what the transaction is, what the policy says about it, and what is not shown. Pure.
import type { InspectResult } from '../../../schemas/commerce.ts'
import { findBindings } from '../bindings.ts'
import { detect } from '../detect.ts'
import { readMessage } from '../message.ts'
import { readMpp } from '../protocols/mpp.ts'
import type { Detection, Layer, Message, Place, TransactionInput } from '../ports.ts'
import { findCards } from '../secrets/cards.ts'
import { scanSecrets } from '../secrets/scan.ts'
import { readTexts } from '../secrets/texts.ts'
import { judge } from './decide.ts'
import type { Policy } from './document.ts'
import { reportFacts } from './facts.ts'
import type { Subject } from './model.ts'
import { POLICY_RULESET_VERSION } from './reasons.ts'
import { createGate, listRedactions, showPlace } from './redact.ts'

export function inspectTransaction(input: TransactionInput, policy: Policy, now: number): InspectResult {
  const message = readMessage(input)
  const detection = detect(message)
  const texts = readTexts(message, detection)
  const expected = listExpected(message, detection)
  const subject: Subject = {
    message,
    detection,
    bindings: findBindings(message, detection),
    policy,
    nowSeconds: Math.floor(now / 1000),
    texts,
    secrets: scanSecrets(texts).found,
    cards: findCards(texts),
    isExpected: (place) =>
      expected.has(place) || [...expected].some((outer) => place.startsWith(`${outer}/`)),
  }
  const { decision, reasons } = judge(subject)
  const gate = createGate(subject)
  const show = (place: Place) => showPlace(place, gate)
  const { protocol, version, transport, stage, confidence, primary, layers, facts } = detection
  const shownLayers = layers.map((layer) => reportLayer(layer, gate))
  return {
    protocol,
    version: version && gate(version),
    transport,
    stage: stage && gate(stage),
    confidence,
    evidence: primary === undefined ? [] : shownLayers[layers.indexOf(primary)]!.evidence,
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
    redactions: listRedactions(subject).map((one) => ({ ...one, path: show(one.path) })),
    forwarded: false,
  }
}

/** Names in one answer; a message can be made to hold more. */
const MAX_EVIDENCE = 64

const reportLayer = (layer: Layer, gate: (text: string) => string): InspectResult['layers'][number] => ({
  name: layer.name,
  version: layer.version && gate(layer.version),
  transport: layer.transport,
  stage: gate(layer.stage),
  confidence: layer.confidence,
  evidence: layer.evidence
    .slice(0, MAX_EVIDENCE)
    .map(({ mark, at }) => ({ mark: gate(mark), at: showPlace(at, gate) })),
})

/** Where a proof or token stands because the protocol puts it there. */
function listExpected(message: Message, { layers, facts }: Detection): ReadonlySet<Place> {
  const expected = new Set<Place>(facts.credentials)
  for (const { name, at } of message.headers) if (name === 'cookie') expected.add(at)
  for (const layer of layers) {
    if (layer.name === 'mpp') {
      const { payloadAt } = readMpp(layer, message)
      if (payloadAt !== null) expected.add(payloadAt)
    }
    if (layer.name === 'x402' && layer.stage === 'payment' && layer.document !== undefined)
      expected.add(`${layer.document.at}/payload`)
  }
  return expected
}
