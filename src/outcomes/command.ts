// A command line as data: split like a shell would, never run, no expansion of any kind.
import { OUTCOME_IDS } from '../../schemas/outcome.ts'
import { type ShellWord, splitCommand } from '../outbound/curl.ts'

const METHODS_READ = new Set(['GET', 'HEAD'])

export type CommandReason = 'open_quote' | 'not_read_only' | 'no_url' | 'not_one_command' | 'unknown_option'
export type CommandReading =
  | { readonly ok: true; readonly kind: 'words'; readonly words: string }
  | { readonly ok: true; readonly kind: 'urls'; readonly urls: readonly string[] }
  /** Body that was to be sent to this very endpoint. */
  | { readonly ok: true; readonly kind: 'body'; readonly body: string }
  | { readonly ok: true; readonly kind: 'request'; readonly request: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly reason: CommandReason }

/** `curl …` and `wget …` name sources, a capability id may take options; anything else is the job in words. */
export function readCommand(command: string): CommandReading {
  const split = splitCommand(command)
  if (!split.ok) return { ok: false, reason: 'open_quote' }
  const shellWords = split.words.filter(({ text }) => text !== '' && text !== '$')
  const words = shellWords.map(({ text }) => text)
  const [name = '', ...rest] = words
  if (name === 'curl' || name === 'wget') {
    if (shellWords.some(isOperator)) return { ok: false, reason: 'not_one_command' }
    return name === 'curl' ? readCurl(rest) : readWget(rest)
  }
  const id = OUTCOME_IDS.find((known) => known === name.toLowerCase().replaceAll('_', '-'))
  if (id !== undefined && rest.some((word) => word.startsWith('--'))) return readOptions(id, rest)
  return { ok: true, kind: 'words', words: words.join(' ') }
}

/** A pipe, a second command or a substitution. In a bare URL, `?` and `&` are part of it for whoever wrote it. */
const isOperator = ({ text, specials }: ShellWord) =>
  specials.some((char) => '|;<>`$()'.includes(char) || (char === '&' && !/^https?:\/\//i.test(text)))

/** The flags that matter for what is asked; a header is not read, because it could carry a secret. */
function readCurl(words: readonly string[]): CommandReading {
  let method: string | undefined
  const urls: string[] = []
  let body: string | undefined
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    // `-sX POST` is `-s -X POST`: in a cluster only the last flag can take the next word.
    const flag = /^-[a-z]+$/i.test(word) ? `-${word.at(-1)}` : word
    if (flag === '-X' || flag === '--request') method = words[++i]
    else if (/^(?:-d|--data|--data-raw|--data-binary|--json)$/.test(flag)) body = words[++i] ?? ''
    else if (flag === '-I' || flag === '--head') method = 'HEAD'
    else if (flag === '--url') urls.push(...words.slice(++i, i + 1))
    else if (
      /^(?:-[HAmoubew]|--header|--user-agent|--max-time|--output|--user|--cookie|--referer)$/.test(flag)
    )
      i++
    else if (!word.startsWith('-')) urls.push(word)
    else if (/^-(?:X|d).|^-[FT]|^--(?:form|upload-file|request=|data)/.test(word))
      return { ok: false, reason: 'not_read_only' }
  }
  const [url] = urls
  if (url === undefined) return { ok: false, reason: 'no_url' }
  if (body !== undefined && isExecuteAddress(url)) return { ok: true, kind: 'body', body }
  if (body !== undefined || (method !== undefined && !METHODS_READ.has(method.toUpperCase())))
    return { ok: false, reason: 'not_read_only' }
  return { ok: true, kind: 'urls', urls }
}

function readWget(words: readonly string[]): CommandReading {
  if (words.some((word) => /^--(?:post|body|method)/.test(word)))
    return { ok: false, reason: 'not_read_only' }
  const urls = words.filter(
    (word, i) => !word.startsWith('-') && !/^-(?:[a-z]*O|o|U|T|t|P)$/.test(words[i - 1] ?? ''),
  )
  return urls.length === 0 ? { ok: false, reason: 'no_url' } : { ok: true, kind: 'urls', urls }
}

const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['url', 'urls'],
  ['limit', 'limit'],
  ['query', 'query'],
  ['max-age-seconds', 'max_age_seconds'],
  ['redirects', 'redirects'],
  ['start', 'start'],
  ['testnet', 'testnet'],
])

/** `feed-digest --url https://… --limit 5`: options by the names of the fields. */
function readOptions(capability: string, words: readonly string[]): CommandReading {
  const urls: string[] = []
  const request = new Map<string, unknown>([['capability', capability]])
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (!word.startsWith('--')) {
      urls.push(word)
      continue
    }
    const equals = word.indexOf('=')
    const name = word.slice(2, equals < 0 ? undefined : equals).replaceAll('_', '-')
    const field = OPTIONS.get(name)
    if (field === undefined || request.has(field)) return { ok: false, reason: 'unknown_option' }
    if (field === 'testnet') {
      request.set(field, true)
      continue
    }
    const value = equals < 0 ? words[++i] : word.slice(equals + 1)
    if (value === undefined) return { ok: false, reason: 'unknown_option' }
    if (field === 'urls') urls.push(value)
    else request.set(field, field !== 'query' && /^\d{1,8}$/.test(value) ? Number(value) : value)
  }
  if (urls.length > 0) request.set('urls', urls)
  return { ok: true, kind: 'request', request: Object.fromEntries(request) }
}

/** A request to this very endpoint, sent as data: what counts is its body. */
export const isExecuteAddress = (url: string) =>
  /(?:^|[^/])\/v1\/execute\/?$/.test(url.replace(/[?#].*$/s, ''))

/** Whether the method, in either case, is one that only reads. */
export const isReadOnly = (method: string) => METHODS_READ.has(method.toUpperCase())
