// The terms of a mandate in the one form that is stored, hashed and shown: the same terms written differently are the same
// mandate, with its counters and its revocation.
import type { MandateTerms } from '../../schemas/actions.ts'
import { saidRule } from './approval.ts'
import { checkEntries } from '../egress/scope.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import type { NewMandate } from '../store/ports.ts'
import { MANDATE_MAX_MS } from './ports.ts'

/** Everything a mandate is, but for whose it is and since when. */
export type Terms = Omit<NewMandate, 'id' | 'accountId' | 'createdAt'>

/** Sorts the methods, each once, reads the expiry as a moment, and fills in what was left out. */
export function normaliseTerms(given: MandateTerms): Terms {
  const terms = {
    purpose: given.purpose,
    credentialId: given.credential_id,
    host: given.host,
    pathPrefix: given.path_prefix,
    methods: [...new Set(given.methods)].toSorted(),
    maxCalls: given.max_calls ?? null,
    maxCredits: given.max_credits ?? null,
    requiresApproval: given.requires_approval || given.approval !== undefined,
    approval: saidRule(given.approval),
    expiresAt: Date.parse(given.expires_at),
  }
  return { ...terms, digest: digestTerms(terms) }
}

/** base64url SHA-256 over the RFC 8785 form, with the names and forms of the wire. */
function digestTerms(terms: Omit<Terms, 'digest'>): string {
  const document = {
    v: 1,
    purpose: terms.purpose,
    credential_id: terms.credentialId,
    host: terms.host,
    path_prefix: terms.pathPrefix,
    methods: terms.methods,
    max_calls: terms.maxCalls,
    max_credits: terms.maxCredits,
    requires_approval: terms.requiresApproval,
    // A mandate that says nothing of it has the digest that it had before it could.
    ...(terms.approval && { approval: terms.approval }),
    expires_at: toTimestamp(terms.expiresAt),
  }
  return digestCanonical(document)
}

export interface TermsProblem {
  /** JSON Pointer below the mandate. */
  readonly pointer: string
  readonly message: string
}

/** @returns what keeps the terms from ever being of use, whoever holds them; an expiry in the past is judged where it matters */
export function findTermsProblem(
  terms: Terms,
  rules: { readonly ports: readonly number[]; readonly allowSandboxName: boolean; readonly now: number },
): TermsProblem | undefined {
  if (terms.expiresAt - rules.now > MANDATE_MAX_MS)
    return {
      pointer: '/expires_at',
      message: `is more than ${MANDATE_MAX_MS / DAY_MS} days ahead`,
    }
  const verdict = checkEntries({ hosts: [terms.host], path_prefixes: [terms.pathPrefix], methods: [] }, rules)
  if (verdict.ok) return undefined
  const pointer = verdict.pointer.startsWith('/hosts') ? '/host' : '/path_prefix'
  return { pointer, message: verdict.message }
}

const DAY_MS = 24 * 3600 * 1000
