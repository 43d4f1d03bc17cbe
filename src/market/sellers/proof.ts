// Whether a host shows the challenge of a seller: in its DNS, or in a file that it serves. A look ends in one of three ways, and only
// "it is not there" is ever held against a seller: a resolver that fails and a server that is down say nothing.
import { consentName, isPublicSuffix } from '../../edge/consent.ts'
import type { TxtResolver } from '../../edge/ports.ts'
import { SANDBOX_HOST } from '../../egress/target.ts'
import type { ReadPublic } from './ports.ts'

export const WELL_KNOWN = '/.well-known/agent-gateway-verification.txt'
const PREFIX = 'agent-gateway-verification='
const DNS_MS = 5_000
const READ_MS = 8_000
const MAX_BYTES = 16 * 1024

export type Look =
  { readonly is: 'shown' } | { readonly is: 'absent' | 'unknown' | 'private'; readonly why: string }

export type ProofVerdict =
  | { readonly is: 'proven'; readonly method: 'dns' | 'well_known' }
  | { readonly is: 'absent' | 'unknown' | 'private'; readonly problems: readonly string[] }

export interface ProofParts {
  readonly txtResolvers: readonly TxtResolver[]
  readonly read: ReadPublic
  readonly allowSandboxName: boolean
}

/** The one line of the record or the file. */
export const challengeLine = (challenge: string): string => PREFIX + challenge

/** `_agent-gateway.api.example.com`; a port is no part of a name. */
export const recordName = (host: string): string => consentName(nameOf(host))
const nameOf = (host: string) => host.replace(/:\d+$/, '')

/** @returns why nobody can prove this host; undefined where somebody can */
export const whyUnprovable = (host: string): string | undefined =>
  isPublicSuffix(nameOf(host))
    ? 'Names below this host are handed out to strangers, so nobody can prove it. Use a host below it.'
    : undefined

/**
 * Looks at both places. One that shows the challenge is enough.
 * @param host with its port where it is not 443
 */
export async function lookForProof(
  parts: ProofParts,
  host: string,
  challenge: string,
): Promise<ProofVerdict> {
  // The sample site of the sandbox is in no DNS, and is everybody's.
  if (parts.allowSandboxName && host === SANDBOX_HOST) return { is: 'proven', method: 'well_known' }
  const line = challengeLine(challenge)
  const [dns, file] = await Promise.all([lookInDns(parts, host, line), lookInFile(parts, host, line)])
  if (file.is === 'private') return { is: 'private', problems: [file.why] }
  if (dns.is === 'shown') return { is: 'proven', method: 'dns' }
  if (file.is === 'shown') return { is: 'proven', method: 'well_known' }
  const is = dns.is === 'unknown' || file.is === 'unknown' ? 'unknown' : 'absent'
  return { is, problems: [dns.why, file.why] }
}

/** Every resolver has to see it: one that was talked into something is not believed alone. */
async function lookInDns({ txtResolvers }: ProofParts, host: string, line: string): Promise<Look> {
  const name = recordName(host)
  if (txtResolvers.length === 0) return { is: 'unknown', why: 'This gateway knows no DNS resolver.' }
  const answers = await Promise.all(txtResolvers.map((resolver) => resolver.ask(name, DNS_MS)))
  if (answers.some(({ status }) => status === 'failed'))
    return { is: 'unknown', why: `DNS: a resolver could not answer about ${name}.` }
  const shows = answers.filter((answer) => answer.status === 'found' && answer.records.includes(line))
  if (shows.length === answers.length) return { is: 'shown' }
  if (shows.length > 0)
    return { is: 'unknown', why: `DNS: not every resolver sees the record at ${name} yet.` }
  return { is: 'absent', why: `DNS: there is no TXT record at ${name} with the challenge.` }
}

async function lookInFile({ read }: ProofParts, host: string, line: string): Promise<Look> {
  const url = `https://${host}${WELL_KNOWN}`
  const found = await read(url, { timeoutMs: READ_MS, maxBytes: MAX_BYTES })
  if (!found.ok)
    return found.kind === 'blocked'
      ? {
          is: 'private',
          why: `The host is not on the public internet, or may not be reached from here (${found.reason}).`,
        }
      : { is: 'unknown', why: `File: ${url} could not be read (${found.reason}).` }
  const { status, text } = found
  // A busy or broken server says nothing of what it would serve.
  if (status >= 500 || status === 429 || status === 408)
    return { is: 'unknown', why: `File: ${url} answered with status ${status}.` }
  if (status !== 200)
    return { is: 'absent', why: `File: ${url} answered with status ${status}; redirects are not followed.` }
  const lines = text.split(/\r?\n/).map((one) => one.trim())
  return lines.includes(line)
    ? { is: 'shown' }
    : { is: 'absent', why: `File: ${url} does not have the line.` }
}
