// Look-alike hosts wherever a host stands: the target, what is paid for, realm, audience and profile, recipients that are names, and
// addresses in texts.
import { placeOf } from '../decode/outline.ts'
import { judgeLikeness, type Likeness } from '../look-alike.ts'
import type { Found, Place } from '../ports.ts'
import type { Rule, Subject } from './model.ts'
import { reason, type Reason } from './reasons.ts'

const WORDS: Readonly<Record<Likeness, string>> = {
  mixed: 'The host mixes letters of several scripts in one word: it imitates another name.',
  dressed:
    'The host has letters of another width or style, which some programs read as plain ones and others do not.',
  hidden: 'The host holds characters that nobody sees.',
  target: 'The host looks like the one that the transaction goes to, and is somebody else.',
  whole: 'Every letter of the host looks like a Latin one: make sure that it is the name which is meant.',
}

/** The host in a URL as it is written, or in a text that is a host. Not the port. */
const AUTHORITY = /^[a-z][a-z\d+.-]*:[/\\]{2}(?:[^/?#\\@]*@)?([^/?#\\@:]+)/i
const NAME = /^[^\s/?#@\\:"]+(?:[.\u3002\uFF0E\uFF61][^\s/?#@\\:"]+)+(?=$|:\d+$)/u
const SCHEME_CHARS = 16
/** More of them say nothing new. */
const MAX_HOSTS = 256

export const judgeLookAlikes: Rule = (subject) => {
  const { url, text } = subject.message.target
  // A target that imitates another name is the one to be told of, and not who has that name.
  const isImitation = judgeLikeness(AUTHORITY.exec(text)?.[1] ?? '') !== undefined
  const target = isImitation ? undefined : url?.hostname
  const judged = new Map<Place, Reason>()
  // The same few hosts stand all over a message.
  const known = new Map<string, Likeness | undefined>()
  const likenessOf = (host: string): Likeness | undefined => {
    if (host === target) return undefined
    if (!known.has(host)) known.set(host, judgeLikeness(host, target))
    return known.get(host)
  }
  const judge = ({ value, at }: Found<string>, host: string | undefined, isNamed: boolean) => {
    if (host === undefined || host.length > 256 || judged.has(at)) return
    const likeness = likenessOf(host)
    if (likeness === undefined || value === '') return
    const severity = isNamed && likeness !== 'whole' ? 'deny' : 'review'
    judged.set(at, reason('LOOKALIKE_HOST', at, { severity, message: WORDS[likeness] }))
  }
  for (const found of listNamed(subject))
    judge(found, AUTHORITY.exec(found.value)?.[1] ?? NAME.exec(found.value)?.[0], true)
  let seen = 0
  for (const text of subject.texts) {
    // No scheme is longer, and most texts are longer than that and no address.
    if (text.isName || !text.value.slice(0, SCHEME_CHARS).includes('://')) continue
    if (++seen > MAX_HOSTS) break
    judge({ value: text.value, at: placeOf(text) }, AUTHORITY.exec(text.value)?.[1], false)
  }
  return [...judged.values()]
}

const listNamed = ({ message, http, detection, spoken }: Subject): Found<string>[] =>
  [
    { value: message.target.text, at: '/target' },
    http.host,
    detection.facts.resource,
    detection.facts.payee,
    ...spoken.flatMap((one) => {
      const { listHosts, listAddresses, listTerms } = one.protocol.policy
      return [
        ...(listHosts?.(one) ?? []),
        ...(listAddresses?.(one) ?? []),
        ...(listTerms?.(one) ?? []).flatMap(({ payees }) => payees),
      ]
    }),
  ].filter((one) => one !== null)
