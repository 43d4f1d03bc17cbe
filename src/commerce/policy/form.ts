// What cannot be read, contradicts itself, or is nothing that is known.
import { isOversize } from '../message.ts'
import { isUnsigned, readAp2 } from '../ap2/read.ts'
import { readHttp } from '../protocols/http.ts'
import type { X402Authorization } from '../protocols/types.ts'
import { readX402 } from '../x402/read.ts'
import { isObject, member } from '../decode/value.ts'
import type { Found, Json, JsonObject } from '../ports.ts'
import type { Rule } from './model.ts'
import { reason, type Reason } from './reasons.ts'

export const judgeForm: Rule = ({ message, detection }) => {
  const found: Reason[] = []
  const { body } = message
  if (body.kind === 'unreadable')
    found.push(
      body.why === 'oversize'
        ? reason('OVERSIZE', '/body')
        : reason('MALFORMED', '/body', {
            message:
              body.why === 'too_deep'
                ? 'The body is nested too deep to be read.'
                : 'The body is no valid JSON.',
          }),
    )
  for (const field of message.headers) if (isOversize(field)) found.push(reason('OVERSIZE', field.at))
  for (const layer of detection.layers)
    if (layer.isUndecodable)
      found.push(
        reason('MALFORMED', layer.evidence[0]?.at ?? '', {
          message: `What ${layer.name} carries here does not decode.`,
        }),
      )
  for (const at of readHttp(message).unreadable)
    found.push(reason('MALFORMED', at, { message: 'The header cannot be parsed.' }))
  if (message.target.url === undefined)
    found.push(reason('MALFORMED', '/target', { message: 'The target is no absolute URL.' }))
  if (body.kind === 'json' && Array.isArray(body.value) && body.value.length > 1)
    found.push(
      reason('POLICY_INPUT_MISSING', '/body', {
        message: 'The body is a list of messages: only the first of a kind is judged. Send them one by one.',
      }),
    )
  if (detection.protocol === 'unknown') found.push(reason('UNKNOWN_PROTOCOL', ''))
  for (const layer of detection.layers) {
    // Settlements say no version.
    if (layer.name !== 'x402' || layer.document === undefined || layer.stage === 'settlement') continue
    const { version, authorization } = readX402(layer, message)
    // `["1"]` is one to some programs and nothing to others.
    if (authorization !== null && holdsOther(valueOf(layer.document, authorization.kind)))
      found.push(
        reason('MALFORMED', authorization.at, {
          message: 'What was signed holds a list or a truth where a text belongs.',
        }),
      )
    if (version === null || (version.value !== 1 && version.value !== 2))
      found.push(
        reason('UNKNOWN_PROTOCOL', version?.at ?? layer.document.at, {
          message: 'It says no version of x402 that is known: what it means is a guess.',
        }),
      )
  }
  return found
}

const valueOf = ({ value }: Found<JsonObject>, kind: X402Authorization['kind']): Json | undefined =>
  member(member(value, 'payload'), kind === 'eip3009' ? 'authorization' : 'permit2Authorization')

/** Anything but texts, numbers, nothing, and objects of them. Depth is that of JSON. */
const holdsOther = (value: Json | undefined): boolean =>
  Array.isArray(value) ||
  typeof value === 'boolean' ||
  (isObject(value) && Object.values(value).some(holdsOther))

export const judgeConflicts: Rule = ({ detection }) =>
  detection.conflicts.map(({ code, at, message }) => reason(code, at, { message }))

/** Mandates that nobody signed or that set no bounds, and payments whose signed part is sealed. */
export const judgeMandates: Rule = ({ message, detection }) => {
  const found: Reason[] = []
  for (const layer of detection.layers) {
    if (layer.name === 'x402' && layer.stage === 'payment') {
      const { authorization } = readX402(layer, message)
      if (authorization?.kind === 'transaction')
        found.push(
          reason('POLICY_INPUT_MISSING', authorization.at, {
            message:
              'What was signed is a sealed transaction: its amount, payee and expiry are not read here.',
          }),
        )
    }
    if (layer.name !== 'ap2') continue
    const facts = readAp2(layer, message)
    const at = layer.document?.at ?? layer.evidence[0]?.at ?? ''
    if (isUnsigned(facts)) found.push(reason('UNSIGNED_MANDATE', at))
    for (const token of facts.chain)
      if (token.alg === null || token.alg.value.toLowerCase() === 'none')
        found.push(
          reason('UNSIGNED_MANDATE', token.alg?.at ?? token.at, {
            severity: 'deny',
            message: 'The token says that it is not signed.',
          }),
        )
    const unbounded = facts.version === '0.1' ? isIntentUnbounded(facts) : isOpenUnbounded(facts)
    if (unbounded !== undefined)
      found.push(reason('OPEN_MANDATE_UNBOUNDED', facts.open?.at ?? at, { message: unbounded }))
  }
  return found
}

type Ap2 = ReturnType<typeof readAp2>

function isIntentUnbounded({ kind, v01 }: Ap2): string | undefined {
  if (kind !== 'intent' || v01 === null) return undefined
  if (v01.confirmationRequired?.value === true) return undefined
  const hasMerchants = Array.isArray(v01.merchants?.value) && v01.merchants.value.length > 0
  return hasMerchants ? undefined : 'The intent needs no confirmation and names no merchants.'
}

function isOpenUnbounded({ open, kind, constraints }: Ap2): string | undefined {
  if (open === null || open.mandate === null) return undefined
  const has = (test: (type: string, index: number) => boolean) =>
    constraints.some(({ type }, index) => type !== null && test(type.value, index))
  if (kind === 'checkout')
    return has((type) => type === 'checkout.allowed_merchants')
      ? undefined
      : 'The open mandate does not say which merchants are allowed.'
  const hasMax = has(
    (type, index) =>
      (type === 'payment.amount_range' && constraints[index]!.max !== null) || type === 'payment.budget',
  )
  if (!hasMax) return 'The open mandate sets no largest amount.'
  const hasPayees = has((type) => type === 'payment.allowed_payees')
  return hasPayees ? undefined : 'The open mandate does not say who may be paid.'
}
