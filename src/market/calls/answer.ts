// Judges what a seller's host answered: whether it is what was paid for. What is not is never charged.
import { isJson, parseContentType } from '../../outbound/media-type.ts'
import { parseJson } from '../../lib/json.ts'
import { decodeUtf8Document } from '../../lib/utf8.ts'
import type { ListingRoute, ServiceFailure } from '../../store/ports.ts'
import { checkersOf } from './input.ts'
import type { UpstreamAnswer } from './ports.ts'

export type AnswerVerdict =
  | {
      readonly ok: true
      /** The answer read as JSON; undefined where it is none. */
      readonly json: unknown
      readonly text: string | undefined
    }
  | {
      readonly ok: false
      readonly fault: Exclude<ServiceFailure, 'unreachable' | 'timeout'>
      /** For the seller and the log. */
      readonly reason: string
      /** For the buyer; quotes nothing of the answer. */
      readonly words: string
    }

const MAX_DEPTH = 64
/**
 * Work that judging an answer by its schema is worth: so much, and so much more for each KiB of it; all of it is 30 ms on the one thread that
 * everybody shares. A longer list is promised as a list, without a word about each item.
 */
const STEPS = 20_000
const STEPS_A_KIB = 400
const MOST_STEPS = 300_000

export function judgeAnswer(route: ListingRoute, { status, headers, body }: UpstreamAnswer): AnswerVerdict {
  if (status < 200 || status > 299)
    return refuse('status', `status_${status}`, `answered with status ${status}`)
  // Nobody asked for a part, and a proxy's transformation is not the seller's answer.
  if (status === 203 || status === 206)
    return refuse('status', `status_${status}`, `answered with status ${status}`)
  const promised = checkersOf(route).output
  if (body.length === 0) {
    const mayBeEmpty = route.method === 'HEAD' || (status === 204 && route.method !== 'GET')
    return mayBeEmpty && (!promised || route.method === 'HEAD')
      ? { ok: true, json: undefined, text: '' }
      : refuse('answer', 'empty', 'answered with nothing')
  }
  const { essence } = parseContentType(headers['content-type'])
  const text = decodeUtf8Document(body)
  if (essence === 'application/problem+json')
    return refuse('answer', 'problem_with_success', 'answered with a problem document')
  if (!isJson(essence)) {
    if (promised) return refuse('answer', 'not_json', 'did not answer with JSON, which it promises')
    return text !== undefined && isErrorPage(text)
      ? refuse('answer', 'error_page', 'answered with an error page')
      : { ok: true, json: undefined, text }
  }
  const json = text === undefined ? undefined : tryParse(text)
  if (json === undefined) return refuse('answer', 'broken_json', 'answered with something that is no JSON')
  const verdict = promised?.check(json, Math.min(MOST_STEPS, STEPS + (body.length / 1024) * STEPS_A_KIB))
  return verdict && !verdict.ok
    ? refuse('schema', `schema_${verdict.reason}`, 'answered with something that does not fit its own schema')
    : { ok: true, json, text }
}

function refuse(
  fault: Extract<AnswerVerdict, { ok: false }>['fault'],
  reason: string,
  words: string,
): AnswerVerdict {
  return { ok: false, fault, reason, words }
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text, MAX_DEPTH)
  } catch {
    return undefined
  }
}

const HEAD_CHARS = 4096
const IS_HTML = /^\s*(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body|title)\b/i
/** Words of servers, proxies, parked names and doorkeepers in place of an answer (theirs, none of this file's); looked for in the title and the first heading alone. */
const GOES_WRONG =
  /\b(?:error|[45]\d\d|not found|forbidden|denied|unauthori[sz]ed|unavailable|bad gateway|gateway time-?out|maintenance|too many requests|rate limit|just a moment|attention required|captcha|are you (?:a )?(?:human|robot)|verify you are|sign in|log ?in|parked|coming\s+soon|default (?:web ?)?page|welcome to nginx|it works)\b/i

/** A page that says with status 200 that something is wrong. */
function isErrorPage(text: string): boolean {
  const head = text.slice(0, HEAD_CHARS)
  if (!IS_HTML.test(head)) return false
  const titles = [...head.matchAll(/<(?:title|h1)[^>]{0,200}>([^<]{0,300})/gi)].map(([, words = '']) => words)
  return titles.some((words) => GOES_WRONG.test(words))
}
