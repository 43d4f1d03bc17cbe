// A command line as data: split like a shell would, never run, no expansion of any kind.
import { splitCommand } from '../curl.ts'
import type { Claim } from './claims.ts'

const METHODS_READ = new Set(['GET', 'HEAD'])

export type CommandReading =
  | { readonly ok: true; readonly claims: readonly Claim[]; readonly body?: string; readonly target?: string }
  | { readonly ok: false; readonly reason: 'open_quote' | 'not_read_only' | 'no_url' }

/** `curl …` names a source; anything else is the job in words. */
export function readCommand(command: string, pointer: string): CommandReading {
  const split = splitCommand(command)
  if (!split.ok) return { ok: false, reason: 'open_quote' }
  const words = split.words.filter(({ specials }) => !specials.includes('\n')).map(({ text }) => text)
  if (words[0] !== 'curl') return { ok: true, claims: [{ field: 'words', value: words.join(' '), pointer }] }
  return readCurl(words.slice(1), pointer)
}

/** The flags that matter for what is asked; a header is not read, because it could carry a secret. */
function readCurl(words: readonly string[], pointer: string): CommandReading {
  let method: string | undefined
  let url: string | undefined
  let body: string | undefined
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    // `-sX POST` is `-s -X POST`: in a cluster only the last flag can take the next word.
    const flag = /^-[a-z]+$/i.test(word) ? `-${word.at(-1)}` : word
    if (flag === '-X' || flag === '--request') method = words[++i]
    else if (/^(?:-d|--data|--data-raw|--data-binary|--json)$/.test(flag)) body = words[++i] ?? ''
    else if (flag === '-I' || flag === '--head') method = 'HEAD'
    else if (flag === '--url') url = words[++i]
    else if (/^(?:-[HAmoub]|--header|--user-agent|--max-time|--output|--user|--cookie)$/.test(flag)) i++
    else if (!word.startsWith('-')) url ??= word
    else if (/^-(?:X|d).|^-[FT]|^--(?:form|upload-file|request=|data)/.test(word))
      return { ok: false, reason: 'not_read_only' }
  }
  if (url === undefined) return { ok: false, reason: 'no_url' }
  if (body !== undefined && isExecuteAddress(url)) return { ok: true, claims: [], body, target: url }
  if (body !== undefined || (method !== undefined && !METHODS_READ.has(method.toUpperCase())))
    return { ok: false, reason: 'not_read_only' }
  return { ok: true, claims: [{ field: 'url', value: url, pointer }] }
}

/** A request to this very endpoint, sent as data: what counts is its body. */
export const isExecuteAddress = (url: string) =>
  /(?:^|[^/])\/v1\/execute\/?$/.test(url.replace(/[?#].*$/s, ''))

export const isReadOnly = (method: string) => METHODS_READ.has(method.toUpperCase())
