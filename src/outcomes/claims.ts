// Reads a request, with everything wrapped inside it, into flat claims: which field, which value, where it stood.
// Decides nothing about which outcome is meant; that is resolve.ts.
import type { z } from 'zod'
import {
  WrappedHttp,
  WrappedIntent,
  WrappedOperation,
  WrappedRequest,
  WrappedTask,
} from '../../schemas/execute-request.ts'
import { OUTCOME_IDS } from '../../schemas/outcome.ts'
import type { ErrorCode } from '../errors.ts'
import { describeIssues } from '../issues.ts'
import { isExecuteAddress, isReadOnly, readCommand } from './command.ts'

export const SOURCE_FIELDS = ['html', 'url', 'urls', 'sources'] as const
export const OPTION_FIELDS = ['limit', 'max_age_seconds', 'query', 'testnet'] as const
export type ClaimField =
  'capability' | 'words' | 'unknown_name' | (typeof SOURCE_FIELDS)[number] | (typeof OPTION_FIELDS)[number]

export interface Claim {
  readonly field: ClaimField
  readonly value: unknown
  /** JSON Pointer into the request. */
  readonly pointer: string
}

export type ClaimsReading =
  | { readonly ok: true; readonly claims: readonly Claim[] }
  | {
      readonly ok: false
      readonly code: ErrorCode
      readonly detail: string
      readonly fields: { pointer: string; message: string }[]
    }

const MAX_WRAPPERS = 8
const OWN_NAMES = new Set(['gateway_execute', 'gateway.execute', 'gatewayexecute', 'execute', '/v1/execute'])

interface Wrapped {
  readonly schema: z.ZodType
  readonly value: unknown
  readonly pointer: string
}

/** @param request the parsed input of the tool: its defaults stand for things nobody said */
export function readClaims(request: Readonly<Record<string, unknown>>): ClaimsReading {
  const claims: Claim[] = []
  const queue: Wrapped[] = [{ schema: WrappedRequest, value: request, pointer: '' }]
  for (let i = 0; i < queue.length; i++) {
    const { schema, value, pointer } = queue[i]!
    if (i > MAX_WRAPPERS)
      return refuse('input_invalid', pointer, `Wrap a request at most ${MAX_WRAPPERS} times`)
    const parsed = schema.safeParse(value)
    if (!parsed.success) return refuseIssues(parsed.error.issues, value, pointer)
    const fields = parsed.data as Record<string, unknown>
    const refused =
      schema === WrappedHttp || schema === WrappedOperation
        ? readHttp(fields, pointer, claims, queue)
        : readFields(fields, pointer, claims, queue)
    if (refused) return refused
  }
  return { ok: true, claims }
}

type Refusal = ClaimsReading & { ok: false }

function readFields(
  fields: Readonly<Record<string, unknown>>,
  at: string,
  claims: Claim[],
  queue: Wrapped[],
): Refusal | undefined {
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const pointer = `${at}/${field}`
    const wrap = (schema: z.ZodType) => queue.push({ schema, value, pointer })
    switch (field) {
      case 'intent':
        if (typeof value === 'string') claims.push(...readWords(value, pointer))
        else wrap(WrappedIntent)
        break
      case 'text':
      case 'goal':
      case 'type':
      case 'action':
      case 'desired_action':
      case 'description':
        claims.push({ field: 'words', value, pointer })
        break
      case 'name':
      case 'tool':
      case 'skill':
      case 'skill_id':
        claims.push(...readName(String(value), pointer))
        break
      case 'input':
      case 'arguments':
        wrap(WrappedRequest)
        break
      case 'task':
        wrap(WrappedTask)
        break
      case 'http':
        wrap(WrappedHttp)
        break
      case 'operation':
        wrap(WrappedOperation)
        break
      case 'command': {
        const refused = readCommandField(String(value), pointer, claims, queue)
        if (refused) return refused
        break
      }
      case 'max_age_seconds':
      case 'testnet':
        if (value !== 0 && value !== false) claims.push({ field, value, pointer })
        break
      default:
        claims.push({ field: field as ClaimField, value, pointer })
    }
  }
  return undefined
}

/** Words may carry the HTML they speak of: from the first tag on it is HTML. */
function readWords(text: string, pointer: string): Claim[] {
  const tag = /<(?:!doctype|!--|[a-z][a-z\d-]*[\s/>])/i.exec(text)
  if (!tag) return [{ field: 'words', value: text, pointer }]
  const words = text.slice(0, tag.index)
  const html: Claim = { field: 'html', value: text.slice(tag.index), pointer }
  return words.trim() === '' ? [html] : [{ field: 'words', value: words, pointer }, html]
}

function readName(name: string, pointer: string): Claim[] {
  const plain = name.trim().toLowerCase()
  if (OWN_NAMES.has(plain)) return []
  const id = OUTCOME_IDS.find((known) => known === plain.replaceAll('_', '-'))
  if (id) return [{ field: 'capability', value: id, pointer }]
  if (plain === 'demo') return [{ field: 'words', value: plain, pointer }]
  return [{ field: 'unknown_name', value: name, pointer }]
}

function readHttp(
  fields: Readonly<Record<string, unknown>>,
  at: string,
  claims: Claim[],
  queue: Wrapped[],
): Refusal | undefined {
  const url = String(fields['url'])
  const body = fields['body']
  for (const field of ['action', 'desired_action', 'summary', 'operation_id', 'operationId'])
    if (typeof fields[field] === 'string')
      claims.push({ field: 'words', value: fields[field], pointer: `${at}/${field}` })
  if (body !== undefined && isExecuteAddress(url)) return unwrapBody(body, `${at}/body`, queue)
  if (!isReadOnly(String(fields['method'])) || body !== undefined)
    return refuse('input_invalid', `${at}/method`, 'Only GET and HEAD without a body are read-only')
  return readUrl(url, `${at}/url`, claims)
}

function readCommandField(
  command: string,
  pointer: string,
  claims: Claim[],
  queue: Wrapped[],
): Refusal | undefined {
  const reading = readCommand(command, pointer)
  if (!reading.ok) return refuse('input_invalid', pointer, COMMAND_REASONS[reading.reason])
  if (reading.body !== undefined) return unwrapBody(reading.body, pointer, queue)
  for (const claim of reading.claims) {
    if (claim.field === 'url') return readUrl(String(claim.value), pointer, claims)
    claims.push(claim)
  }
  return undefined
}

const COMMAND_REASONS = {
  open_quote: 'A quote in the command is not closed, or it ends with a backslash',
  not_read_only: 'The command would change something: only GET and HEAD are read-only',
  no_url: 'The command names no URL',
} as const

function readUrl(url: string, pointer: string, claims: Claim[]): Refusal | undefined {
  if (!URL.canParse(url)) return refuse('input_invalid', pointer, 'Not an absolute URL')
  claims.push({ field: 'url', value: url, pointer })
  return undefined
}

function unwrapBody(body: unknown, pointer: string, queue: Wrapped[]): Refusal | undefined {
  let value = body
  if (typeof body === 'string') {
    try {
      value = JSON.parse(body)
    } catch {
      return refuse('input_invalid', pointer, 'The body is not valid JSON')
    }
  }
  queue.push({ schema: WrappedRequest, value, pointer })
  return undefined
}

function refuse(code: ErrorCode, pointer: string, message: string): Refusal {
  return { ok: false, code, detail: `${pointer}: ${message}.`, fields: [{ pointer, message }] }
}

function refuseIssues(issues: readonly z.core.$ZodIssue[], value: unknown, at: string): Refusal {
  const { code, pointer, message } = describeIssues(issues, value)[0]!
  return refuse(code, at + pointer, message)
}
