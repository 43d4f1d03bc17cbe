// Decides from the answers of all resolvers together about one host. Refused unless every resolver gave the same records and
// exactly one of them is for this gateway; whose account it names is consent.ts.
import type { EdgeRefusal } from '../../schemas/edge.ts'
import type { TxtAnswer } from './ports.ts'
import { type ConsentRecord, parseRecord } from './consent-record.ts'

export type ConsentDecision =
  | {
      readonly ok: true
      readonly record: ConsentRecord
      /** The record as published. */
      readonly text: string
      readonly ttlSeconds: number
    }
  | {
      readonly ok: false
      readonly refusal: EdgeRefusal
      /** Tells whoever keeps the zone what to put right. */
      readonly detail: string
      /** The time for which the zone itself said so; null where nothing is known, which is not worth remembering. */
      readonly ttlSeconds: number | null
    }

/** A record that is found may be an alias of one elsewhere, and no more than that. */
const MAX_ALIASES = 1
/** The time for which there is nothing where the zone does not say for how long. */
const ABSENT_SECONDS = 60

/**
 * @param name where the records belong
 * @param edgeName the `gw` that is ours
 */
export function decideConsent(
  name: string,
  answers: readonly TxtAnswer[],
  edgeName: string,
): ConsentDecision {
  const failure = findFailure(name, answers)
  if (failure) return failure
  const told = answers.filter((answer) => answer.status !== 'failed')
  if (told.some(({ aliases }) => aliases > MAX_ALIASES))
    return {
      ok: false,
      refusal: 'alias_chain',
      detail: `${name} is an alias of an alias. Publish the TXT record there, or a CNAME that leads straight to it.`,
      ttlSeconds: ttlOf(told),
    }
  const sets = new Set(told.map((answer) => (answer.status === 'found' ? setOf(answer.records) : '')))
  if (sets.size > 1)
    return {
      ok: false,
      refusal: 'resolvers_disagree',
      detail: `The resolvers see different TXT records at ${name}. If it was changed lately, try again once the old TTL is over; else the name servers of the zone do not agree.`,
      ttlSeconds: null,
    }
  const records = told.flatMap((answer) => (answer.status === 'found' ? answer.records : []))
  return pickRecord(name, [...new Set(records)], edgeName, ttlOf(told))
}

function findFailure(name: string, answers: readonly TxtAnswer[]): ConsentDecision | undefined {
  const refuse = (refusal: EdgeRefusal, detail: string): ConsentDecision => ({
    ok: false,
    refusal,
    detail,
    ttlSeconds: null,
  })
  // Nobody who says no is not everybody who says yes.
  if (answers.length === 0)
    return refuse(
      'resolver_failed',
      'The gateway knows no DNS resolver. Its operator has to set GATEWAY_DNS_SERVERS.',
    )
  const reasons = answers.flatMap((answer) => (answer.status === 'failed' ? [answer.reason] : []))
  if (reasons.length === 0) return undefined
  if (reasons.includes('too_large'))
    return refuse(
      'answer_too_large',
      `The TXT records at ${name} are larger than 4096 bytes together. Remove what does not belong there.`,
    )
  if (reasons.includes('alias_loop'))
    return refuse(
      'alias_chain',
      `${name} is an alias that leads back to itself. Publish the TXT record there.`,
    )
  return refuse(
    'resolver_failed',
    reasons.includes('timeout')
      ? `A resolver did not answer about ${name} in time. Try again; if it stays so, look at the name servers of the zone.`
      : `A resolver could not answer about ${name}. Look at the name servers of the zone and its DNSSEC signatures, then try again.`,
  )
}

function pickRecord(
  name: string,
  records: readonly string[],
  edgeName: string,
  ttlSeconds: number,
): ConsentDecision {
  const refuse = (refusal: EdgeRefusal, detail: string): ConsentDecision => ({
    ok: false,
    refusal,
    detail,
    ttlSeconds,
  })
  const readings = records.map((text) => ({ text, ...parseRecord(text) }))
  const ours = readings.flatMap((each) =>
    each.kind === 'record' && each.record.gateway === edgeName ? [each] : [],
  )
  if (ours.length > 1)
    return refuse(
      'several_records',
      `There are ${ours.length} records for ${edgeName} at ${name}, which could say different things. Leave one.`,
    )
  const [one] = ours
  if (one) return { ok: true, record: one.record, text: one.text, ttlSeconds }
  const broken = readings.find((each) => each.kind === 'malformed')
  if (broken?.kind === 'malformed')
    return refuse('malformed', `The record at ${name} cannot be read: ${broken.why}. Correct it.`)
  if (readings.some(({ kind }) => kind === 'unsupported_version'))
    return refuse(
      'unsupported_version',
      `The record at ${name} is of a version that this gateway does not know. Publish one with v=agw1.`,
    )
  if (readings.some(({ kind }) => kind === 'record'))
    return refuse(
      'wrong_gateway',
      `The record at ${name} is for another gateway. Add one with gw=${edgeName}; the other may stay.`,
    )
  return refuse('absent', `There is no consent record at ${name}. Publish the TXT record there.`)
}

const setOf = (records: readonly string[]) => JSON.stringify([...new Set(records)].sort())

function ttlOf(answers: readonly Extract<TxtAnswer, { status: 'found' | 'absent' }>[]): number {
  return Math.min(...answers.map(({ ttlSeconds }) => ttlSeconds ?? ABSENT_SECONDS))
}
