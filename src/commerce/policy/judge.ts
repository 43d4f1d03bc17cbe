// One analysed message held against one policy: what /v1/inspect answers with, and what the edge asks before it forwards. Pure.
import type { Analysis } from '../analysis.ts'
import type { Place } from '../ports.ts'
import { findCards } from '../secrets/cards.ts'
import { scanSecrets } from '../secrets/scan.ts'
import { readTexts } from '../secrets/texts.ts'
import { judge, type Judgement } from './decide.ts'
import type { Policy } from './document.ts'
import type { Subject } from './model.ts'

export interface JudgedMessage extends Judgement {
  readonly subject: Subject
}

/** @param now milliseconds since the epoch */
export function judgeMessage(analysis: Analysis, policy: Policy, now: number): JudgedMessage {
  const texts = readTexts(analysis)
  const expected = listExpected(analysis)
  const subject: Subject = {
    ...analysis,
    policy,
    nowSeconds: Math.floor(now / 1000),
    texts,
    secrets: scanSecrets(texts).found,
    cards: findCards(texts),
    isExpected: (place) =>
      expected.has(place) ||
      [...expected].some((outer) => place[outer.length] === '/' && place.startsWith(outer)),
  }
  return { subject, ...judge(subject) }
}

/** Places where a proof or token stands because the protocol puts it there. */
function listExpected({ message, detection, spoken }: Analysis): ReadonlySet<Place> {
  const places = spoken.flatMap((one) => one.protocol.policy.listExpected?.(one) ?? [])
  return new Set([
    ...detection.facts.credentials,
    ...message.headers.flatMap(({ name, at }) => (name === 'cookie' ? at : [])),
    ...places.filter((place) => place !== null),
  ])
}
