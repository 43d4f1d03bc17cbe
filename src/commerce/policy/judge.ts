// One message held against one policy: what /v1/inspect answers with, and what the edge asks before it forwards. Pure.
import { findBindings } from '../bindings.ts'
import { detect } from '../detect.ts'
import { readMpp } from '../mpp/read.ts'
import type { Detection, Message, Place } from '../ports.ts'
import { findCards } from '../secrets/cards.ts'
import { scanSecrets } from '../secrets/scan.ts'
import { placeOf, readTexts, type Text } from '../secrets/texts.ts'
import { judge, type Judgement } from './decide.ts'
import type { Policy } from './document.ts'
import type { Subject } from './model.ts'

export interface JudgedMessage extends Judgement {
  readonly subject: Subject
}

/** @param now milliseconds since the epoch */
export function judgeMessage(message: Message, policy: Policy, now: number): JudgedMessage {
  const detection = detect(message)
  const texts = readTexts(message, detection)
  const expected = listExpected(message, detection)
  const places = new Map<Text, Place>()
  const subject: Subject = {
    message,
    detection,
    bindings: findBindings(message, detection),
    policy,
    nowSeconds: Math.floor(now / 1000),
    texts,
    secrets: scanSecrets(texts).found,
    cards: findCards(texts),
    placeOf(text) {
      const place = places.get(text) ?? placeOf(text)
      places.set(text, place)
      return place
    },
    isExpected: (place) =>
      expected.has(place) ||
      [...expected].some((outer) => place[outer.length] === '/' && place.startsWith(outer)),
  }
  return { subject, ...judge(subject) }
}

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
