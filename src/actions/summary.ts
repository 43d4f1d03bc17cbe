// The summary that whoever approves gets to see: exactly what will be sent, and with whose credential. The facts are stored while
// the permit waits; the words are made when they are read.
import type { PermitSummary } from '../../schemas/actions.ts'
import type { HttpMethod } from '../../schemas/http.ts'
import type { CheckedRequest } from '../egress/grant.ts'
import { joinPairs } from '../egress/relay/headers.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import type { Mandate } from '../store/ports.ts'
import { hash } from 'node:crypto'
import type { z } from 'zod'
import { sanitiseLines, sanitiseText } from './sanitised-text.ts'

/** The stored form: text as it is, the body in base64 whatever it holds. */
export interface Facts {
  readonly method: z.infer<typeof HttpMethod>
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | null
  readonly credential: PermitSummary['credential']
  readonly mandate: PermitSummary['mandate']
  /** Left out where the gateway adds an idempotency key of its own to what changes something. */
  readonly addsKey?: boolean
}

/**
 * The facts of a request as they are stored for whoever approves: text as it is, the body in base64. Reading makes them safe to show.
 * @param addsKey whether the gateway sends an idempotency key of its own with it
 */
export function writeSummary(
  { request, credential }: Pick<CheckedRequest, 'request' | 'credential'>,
  mandate: Pick<Mandate, 'id' | 'purpose'>,
  addsKey = true,
): string {
  const facts: Facts = {
    method: request.method as Facts['method'],
    url: request.target.url.href,
    headers: request.headers,
    body: request.body?.toString('base64') ?? null,
    credential: {
      credential_id: credential.id,
      provider: credential.provider,
      label: credential.label,
      version: credential.version,
      header: credential.header,
    },
    mandate: { mandate_id: mandate.id, purpose: mandate.purpose },
    ...(!addsKey && { addsKey }),
  }
  return JSON.stringify(facts)
}

/** Longer bodies are left out of lists: a page of them would be as large as all of them together. */
export const MAX_LISTED_BODY_BYTES = 4096
/** The length of what is shown of a body that is no text. */
const PREVIEW_BYTES = 256

/** The stored form, of a summary that waits or of evidence. */
export const readFacts = (json: string): Facts => JSON.parse(json) as Facts

/** @param as `listed`: without a long body, and saying so */
export function readSummary(json: string, as: 'whole' | 'listed'): PermitSummary {
  const facts = readFacts(json)
  const body = Buffer.from(facts.body ?? '', 'base64')
  const text = decodeUtf8(body)
  const isShown = as === 'whole' || body.length <= MAX_LISTED_BODY_BYTES
  const sha256 = hash('sha256', body, 'hex')
  return {
    method: facts.method,
    url: facts.url,
    headers: joinPairs(facts.headers),
    credential: facts.credential,
    body_bytes: body.length,
    body_sha256: sha256,
    ...(body.length > 0 &&
      isShown &&
      (text === undefined ? { body_base64: body.toString('base64') } : { body: text })),
    mandate: facts.mandate,
    text: [
      ...headOf(facts),
      ...(body.length === 0
        ? ['Body: none']
        : [
            `Body: ${body.length} bytes of ${text === undefined ? 'binary data' : 'text'}, SHA-256 ${sha256}`,
            ...(isShown ? bodyLines(body, text) : ['  (not shown in a list: read this permit by its id)']),
          ]),
    ].join('\n'),
  }
}

function headOf({ method, url, headers, credential, mandate, addsKey = true }: Facts): string[] {
  const { label, provider, version, header, credential_id } = credential
  return [
    `${method} ${sanitiseText(url)}`,
    `Purpose: ${sanitiseText(mandate.purpose)}`,
    `Credential: ${sanitiseText(label)} (${sanitiseText(provider)}, ${credential_id}, version ${version}); its secret goes in ${header}`,
    'Headers:',
    ...headers.map(([name, value]) => `  ${sanitiseText(name)}: ${sanitiseText(value)}`),
    ...(!addsKey || method === 'GET' || method === 'HEAD'
      ? []
      : ["  idempotency-key: one of the gateway's own"]),
  ]
}

function bodyLines(body: Buffer, text: string | undefined): string[] {
  if (text !== undefined) return [sanitiseLines(text, '  | ')]
  const shown = body.subarray(0, PREVIEW_BYTES)
  const lines = shown.toString('hex').match(/.{1,64}/g) ?? []
  const left = body.length - shown.length
  return [
    `  (in hexadecimal${left > 0 ? `, the first ${shown.length} bytes; ${left} more are in body_base64` : ''})`,
    ...lines.map((line) => `  | ${line}`),
  ]
}
