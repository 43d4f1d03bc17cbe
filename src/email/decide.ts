// Turns what is known about an address into the answer. The decision is the worst of the reasons, and nothing else: what is
// deterministic rejects, what may change by itself is a review. A route that nobody knows never rejects.
import {
  EMAIL_REASONS,
  type EmailChecks,
  type EmailDecision,
  type EmailReason,
  type EmailVerification,
} from '../../schemas/email.ts'
import type { z } from 'zod'
import { toTimestamp } from '../lib/timestamp.ts'
import type { MailRoute } from './ports.ts'
import type { AddressReading } from './reading.ts'
import { type MailService, takesEveryName } from './mail-service.ts'
import { RULE_DETAILS } from './words.ts'

export type Judgement = Omit<EmailVerification, 'checked_at'>
type Checks = z.infer<typeof EmailChecks>
type Mailbox = EmailVerification['mailbox']

/** What else is known about a domain, where anybody was asked. */
export interface DomainSignals {
  /** Who runs its best mail host. */
  readonly service: MailService | undefined
  /** Unix milliseconds. */
  readonly registeredAt: number | undefined
  readonly isNew: boolean
}

export const NO_SIGNALS: DomainSignals = { service: undefined, registeredAt: undefined, isNew: false }

/** Spelling and literals stay what they are; a day bounds what lists may learn. */
const LASTING_SECONDS = 86_400
const LISTED_SECONDS = 3_600
/** The worst last. */
const SEVERITY: readonly EmailDecision[] = ['accept', 'review', 'reject']

/**
 * @param route what DNS says about `reading.question`; of a literal, only `unreachable` or undefined. Undefined: not asked.
 * @param mailbox what a verifier says; `unknown` where there is none
 */
export function decide(
  reading: AddressReading,
  route: MailRoute | undefined,
  mailbox: Mailbox,
  signals: DomainSignals = NO_SIGNALS,
): Judgement {
  const reasons = sortReasons([
    ...reasonsOfReading(reading),
    ...reasonsOfRoute(route),
    ...reasonsOfMailbox(mailbox),
    ...reasonsOfSignals(signals),
  ])
  return {
    email: reading.email,
    decision: decisionOf(reasons),
    reasons,
    normalized: reading.normalized,
    did_you_mean: reading.didYouMean,
    checks: toChecks(reading, route, signals),
    mailbox,
    cache_ttl_seconds: ttlOf(reading, route),
  }
}

/** The worst that any of the reasons asks for; accept without any. */
export function decisionOf(reasons: readonly EmailReason[]): EmailDecision {
  const asked = new Set(reasons.map((reason) => EMAIL_REASONS[reason]))
  return SEVERITY.findLast((decision) => asked.has(decision)) ?? 'accept'
}

const ORDER = Object.keys(EMAIL_REASONS) as EmailReason[]
const sortReasons = (reasons: EmailReason[]) =>
  reasons.length < 2 ? reasons : ORDER.filter((reason) => reasons.includes(reason))

function reasonsOfReading(reading: AddressReading): EmailReason[] {
  const { syntax, disposable } = reading
  if (!syntax.ok) return [syntax.part === 'domain' ? 'domain_invalid' : 'syntax']
  const found: readonly (readonly [boolean, EmailReason])[] = [
    [disposable?.result === 'listed', 'disposable'],
    [disposable?.result === 'probable', 'probably_disposable'],
    [reading.isRole, 'role_address'],
    [reading.isTypo, 'typo'],
    [syntax.isDisplayForm, 'display_name'],
    [syntax.isMisleading, 'misleading_name'],
    [syntax.isBare, 'angle_brackets'],
    [syntax.oddity !== undefined, 'unusual_character'],
    [syntax.isQuoted, 'quoted_local_part'],
    [syntax.literal !== undefined, 'address_literal'],
    [reading.isSpecialUse, 'special_use_domain'],
    [reading.isConfusable || reading.isConfusableLocalPart, 'confusable'],
    [reading.subaddress !== null, 'subaddress'],
    [reading.isFree, 'free_provider'],
    [reading.isRelay, 'relay'],
  ]
  return found.filter(([isSo]) => isSo).map(([, reason]) => reason)
}

function reasonsOfRoute(route: MailRoute | undefined): EmailReason[] {
  switch (route?.status) {
    case undefined:
    case 'mx':
      return []
    case 'implicit':
      return route.sendsNoMail ? ['implicit_mx', 'sends_no_mail'] : ['implicit_mx']
    case 'sandbox':
      return ['sandbox_domain']
    case 'null_mx':
      return ['null_mx']
    case 'no_domain':
      return ['domain_not_found']
    case 'no_route':
      return ['no_mail_route']
    case 'unreachable':
      return ['unreachable_route']
    case 'unknown':
      return [route.reason === 'timeout' ? 'dns_timeout' : 'dns_failure']
  }
}

const reasonsOfMailbox = (mailbox: Mailbox): EmailReason[] =>
  mailbox === 'undeliverable' ? ['mailbox_undeliverable'] : []

function reasonsOfSignals({ service, isNew }: DomainSignals): EmailReason[] {
  const reasons: EmailReason[] = isNew ? ['new_domain'] : []
  if (service?.kind === 'throwaway') reasons.push('throwaway_route')
  if (service && takesEveryName(service.kind)) reasons.push('catch_all_likely')
  return reasons
}

function toChecks(reading: AddressReading, route: MailRoute | undefined, signals: DomainSignals): Checks {
  const { syntax, disposable } = reading
  return {
    syntax: syntaxCheck(reading),
    domain: { ...domainCheck(syntax, route), registered_on: dayOf(signals.registeredAt) },
    mx: { ...mxCheck(route), service: signals.service ?? null },
    disposable: disposable ?? { result: 'skipped', list: null, list_date: null },
    role: reading.isRole,
    free_provider: reading.isFree,
    relay: reading.isRelay,
    subaddress: reading.subaddress,
    internationalized: {
      local_part: syntax.ok && !isAscii(syntax.localPart),
      domain: syntax.ok && syntax.domain !== undefined && syntax.domain.ascii !== syntax.domain.unicode,
    },
  }
}

function syntaxCheck(reading: AddressReading): Checks['syntax'] {
  const { syntax } = reading
  if (!syntax.ok) {
    const { rule, position } = syntax
    return { result: 'fail', rule, detail: RULE_DETAILS[rule], position }
  }
  // It passes, and is told what is not as it should be.
  const note = syntax.oddity ?? noteOf(reading)
  if (!note) return { result: 'pass', rule: null, detail: null, position: null }
  return { result: 'pass', rule: note.rule, detail: RULE_DETAILS[note.rule], position: note.position }
}

function noteOf({ syntax, isConfusableLocalPart }: AddressReading) {
  if (syntax.ok && syntax.isMisleading) return { rule: 'misleading_name', position: null } as const
  return isConfusableLocalPart ? ({ rule: 'confusable_local_part', position: null } as const) : undefined
}
const isAscii = (text: string) => /^[ -~]*$/.test(text)

const dayOf = (at: number | undefined) => (at === undefined ? null : toTimestamp(at).slice(0, 10))

function domainCheck(
  syntax: AddressReading['syntax'],
  route: MailRoute | undefined,
): Omit<Checks['domain'], 'registered_on'> {
  if (!syntax.ok)
    return {
      result: syntax.part === 'domain' ? 'fail' : 'skipped',
      ascii: null,
      unicode: null,
      registrable: null,
    }
  if (!syntax.domain) return { result: 'skipped', ascii: null, unicode: null, registrable: null }
  const { ascii, unicode, registrable } = syntax.domain
  const result =
    route === undefined
      ? 'skipped'
      : route.status === 'no_domain'
        ? 'fail'
        : route.status === 'unknown'
          ? 'unknown'
          : 'pass'
  return { result, ascii, unicode, registrable }
}

function mxCheck(route: MailRoute | undefined): Omit<Checks['mx'], 'service'> {
  const none = { hosts: [], null_mx: false, implicit_mx: false, sends_no_mail: false }
  switch (route?.status) {
    case undefined:
      return { result: 'skipped', ...none }
    case 'unknown':
      return { result: 'unknown', ...none }
    case 'sandbox':
      return { result: 'pass', ...none }
    case 'mx':
      return { result: 'pass', ...none, hosts: [...route.hosts] }
    case 'implicit':
      return { result: 'pass', ...none, implicit_mx: true, sends_no_mail: route.sendsNoMail }
    case 'unreachable':
      return { result: 'fail', ...none, hosts: [...route.hosts] }
    case 'null_mx':
      return { result: 'fail', ...none, null_mx: true }
    case 'no_domain':
    case 'no_route':
      return { result: 'fail', ...none }
  }
}

/** The answer holds as long as the shortest-lived fact that it rests on; an unknown route is asked again at once. */
function ttlOf({ syntax, question }: AddressReading, route: MailRoute | undefined): number {
  if (route?.status === 'unknown') return 0
  if (!syntax.ok || question?.kind === 'literal') return LASTING_SECONDS
  return Math.max(0, Math.floor(Math.min(LISTED_SECONDS, route?.ttlSeconds ?? LISTED_SECONDS)))
}
