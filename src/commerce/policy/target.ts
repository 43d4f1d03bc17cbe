// The target is judged by what its address says: literals and names, no DNS. What is paid for and who is asked for a profile
// are addresses as well, which a server will open.
import { createAddressPolicy } from '../../egress/address.ts'
import { isLocalName } from '../../egress/target.ts'
import type { Found, Place } from '../ports.ts'
import type { Rule, Subject } from './model.ts'
import { reason, type Reason } from './reasons.ts'

const addresses = createAddressPolicy([])

/** The target, what is paid for, and addresses that a server will open. */
export const judgeTarget: Rule = (subject) => {
  const { url, text } = subject.message.target
  const found: Reason[] = []
  if (url !== undefined) {
    // http is told by the bindings.
    if (!/^(?:https?|wss):$/.test(url.protocol)) found.push(reason('INSECURE_SCHEME', '/target'))
    found.push(...judgeUrl(url, '/target', text))
  }
  for (const { value, at } of listNamed(subject)) {
    if (value === text) continue
    const named = /^https?:\/\//i.test(value) ? URL.parse(value) : null
    if (named !== null && named.host !== url?.host) found.push(...judgeUrl(named, at, value))
  }
  return found
}

const listNamed = ({ detection, spoken }: Subject): Found<string>[] =>
  [
    detection.facts.resource,
    ...spoken.flatMap((one) => one.protocol.policy.listAddresses?.(one) ?? []),
  ].filter((one) => one !== null)

function judgeUrl(url: URL, at: Place, text: string): Reason[] {
  const found: Reason[] = []
  // A URL drops an empty user name: the text is what has to be looked at.
  const authority = /^[a-z][a-z\d+.-]*:[/\\]{2}([^/?#\\]*)/i.exec(text)?.[1] ?? ''
  if (url.username !== '' || url.password !== '' || authority.includes('@'))
    found.push(reason('PRIVATE_TARGET', at, { message: 'The address carries a user name or password.' }))
  if (url.hostname === '') return found
  const verdict = judgeHost(url.hostname)
  if (verdict !== undefined)
    found.push(reason('PRIVATE_TARGET', at, { severity: verdict.severity, message: verdict.message }))
  else if (url.port !== '')
    found.push(
      reason('PRIVATE_TARGET', at, { severity: 'review', message: 'The address names an unusual port.' }),
    )
  return found
}

/** Services of the public DNS that answer with an address written in the name, or with this machine's own. */
const MIRRORS =
  /(?:^|\.)(?:nip\.io|sslip\.io|xip\.io|localtest\.me|lvh\.me|vcap\.me|lacolhost\.com|traefik\.me)\.?$/
/** Reserved for documentation (RFC 2606): they lead nowhere. */
const NOWHERE = /(?:^|\.)(?:example|invalid)\.?$/

/** Undefined where the name is one of the public internet. A name is judged as it is written, without DNS. */
export function judgeHost(
  hostname: string,
): { readonly severity: 'deny' | 'review'; readonly message: string } | undefined {
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  const isLiteral = hostname.startsWith('[') || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(hostname)
  if (isLiteral) {
    const verdict = addresses.classify(literal)
    return verdict.ok
      ? { severity: 'review', message: 'The address is a number where a name should be.' }
      : {
          severity: 'deny',
          message: `The address is not on the public internet (${verdict.reason.replaceAll('_', ' ')}).`,
        }
  }
  const name = hostname.toLowerCase()
  if (MIRRORS.test(name))
    return { severity: 'deny', message: 'The name stands for an address that is written in it.' }
  if (NOWHERE.test(name)) return undefined
  return isLocalName(name, { allowSandboxName: true })
    ? { severity: 'deny', message: 'The name is one of a private network or of this machine.' }
    : undefined
}
