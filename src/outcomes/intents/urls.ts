// URLs that stand in a sentence, English or Arabic, and the sentence without them. A bare name is a URL only where it
// is clearly a host; nothing is looked up.
import { parse } from 'tldts'
import { URL_MARK } from './tokens.ts'

export interface SaidUrls {
  /** The addresses as they would be sent: punycode, percent-encoding, no fragment. Each once, in order. */
  readonly urls: readonly string[]
  /** The text with a mark in place of every URL, and without invisible characters. */
  readonly rest: string
}

// These are no part of a URL in a sentence: space, quotes, angle brackets, Arabic and CJK punctuation, invisible characters, emoji.
const STOP = String.raw`\s<>"\u0060{}|\\^\u00AB\u00BB\u2018-\u201F\u2026\u060C\u061B\u061F\u3000-\u3002\u300C-\u300F\uFF0C\uFF1F\u200B-\u200F\u202A-\u202E\u2060-\u2069\u061C\uFEFF\uFFFC\uFFFD\p{Cs}\p{Cc}\p{Extended_Pictographic}` // prettier-ignore
const LABEL = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?`
const ENDING = String.raw`(?:xn--[a-z\d-]{2,59}|[a-z]{2,24}|[\u0621-\u064A]{2,20})`
const AFTER = String.raw`(?![\p{L}\p{N}@_-]|\.[\p{L}\p{N}])`
const URLS = new RegExp(
  String.raw`https?:\/\/[^${STOP}]+|` +
    String.raw`(?<![\p{L}\p{N}@.\/_-])(?<host>(?:${LABEL}\.){1,8}${ENDING})${AFTER}(?::\d{2,5})?(?:[\/?][^${STOP}]*)?`,
  'giu',
)
/** Arabic writes "and", "in" and "for" as one letter before the word. */
const GLUED_HOST = /(?<=^|[^\p{L}\p{N}@./_-])([وبلف])(?=[a-z\d])/gu
const INVISIBLE = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069\u061C\uFEFF]/g

/** The addresses in a text, and the text with a mark in the place of each. */
export function findUrls(said: string): SaidUrls {
  // Set apart first, so that one rule says where a name may begin.
  const text = said.replace(GLUED_HOST, '$1 ')
  const urls: string[] = []
  let rest = ''
  let at = 0
  URLS.lastIndex = 0
  for (let match = URLS.exec(text); match; match = URLS.exec(text)) {
    const [raw] = match
    const host = match.groups?.['host']
    const written = trimUrl(raw)
    const url = host === undefined || isHost(host, raw.slice(host.length)) ? toUrl(written, host) : undefined
    if (url === undefined) {
      // The end of a name may be the scheme of a URL that is glued to it.
      const isGlued = host !== undefined && text.startsWith('://', match.index + host.length)
      const read = isGlued ? host.lastIndexOf('.') + 1 : (host?.length ?? raw.length)
      URLS.lastIndex = match.index + read
      if (host === undefined) {
        // Text that starts like an address and is none says nothing in words either, and may hold a password.
        rest += `${text.slice(at, match.index)} `
        at = URLS.lastIndex
      }
      continue
    }
    if (!urls.includes(url)) urls.push(url)
    rest += `${text.slice(at, match.index)} ${URL_MARK} `
    at = match.index + written.length
    URLS.lastIndex = at
  }
  return { urls, rest: (rest + text.slice(at)).replace(INVISIBLE, '') }
}

/** Cuts off the end what belongs to the sentence: punctuation, an unopened bracket, a second URL, Arabic letters. */
function trimUrl(raw: string): string {
  let [url = ''] = raw.split(/[,;()[\]]+(?=https?:\/\/)|\]\(/i, 1)
  // A path may be Arabic, but no word goes from Latin to Arabic letters.
  const glued = /[a-z\d][\u0621-\u064A]/i.exec(url)
  if (glued) url = url.slice(0, glued.index + 1)
  let open = url.split('(').length - url.split(')').length
  for (; url !== ''; url = url.slice(0, -1)) {
    const last = url.slice(-1)
    if (last === ')' ? open >= 0 : !".,;:!?'*]".includes(last)) break
    if (last === ')') open++
  }
  return url
}

/** Endings of a name that stands alone, without www. and without a path: others are too often a file or a sentence. */
const PLAIN_ENDINGS = new Set(
  (
    'com org net io dev edu gov co ai app news shop store info blog tech eg sa ae jo lb ma tn qa kw bh om iq sy ps dz ' +
    'ly sd uk de fr eu es nl ch ca au jp tr'
  ).split(' '),
)
/** Names of things. */
const NOT_HOSTS = new Set(['asp.net', 'vb.net', 'ado.net', 'socket.io'])

function isHost(host: string, tail: string): boolean {
  const { isIcann, domain, publicSuffix } = parse(host, { allowPrivateDomains: false })
  if (!isIcann || domain === null || NOT_HOSTS.has(domain)) return false
  if (/^www\./i.test(host) || /^(?::\d+)?[/?]./.test(tail)) return true
  return PLAIN_ENDINGS.has((publicSuffix ?? '').replace(/^.*\./, ''))
}

function toUrl(written: string, host: string | undefined): string | undefined {
  const url = host === undefined ? written : `https://${written}`
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  // The address stays as written: it is no target, and shown without what is in it.
  if (parsed.username !== '' || parsed.password !== '') return url
  parsed.hash = ''
  return parsed.href
}
