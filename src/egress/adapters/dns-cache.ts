// Remembers answers for as long as their owner allows, and never long: an attempt asks at most once, and attempts that
// ask the same at the same time share one question. What is remembered is classified again at every use.
import { keepNewest } from '../../lib/keep-newest.ts'

export interface Answer {
  readonly addresses: readonly string[]
  /** The server's word, in seconds; 0 is not to be kept. */
  readonly ttlSeconds: number
}

/** A name that moves away is followed within this time, whatever its TTL. */
const LONGEST_SECONDS = 30
const MAX_NAMES = 1_000

export interface AnswerCache {
  /** @returns each address once, from memory or by a question */
  ask(host: string): Promise<readonly string[]>
  /** @returns what is remembered; undefined where a question would be needed */
  recall(host: string): readonly string[] | undefined
}

/** @param ask the resolver; an answer is kept for its TTL, 30 s at most, and a failure is not */
export function cacheAnswers(ask: (host: string) => Promise<Answer>, now: () => number): AnswerCache {
  const kept = new Map<string, { addresses: readonly string[]; until: number }>()
  const asking = new Map<string, Promise<readonly string[]>>()

  async function askOnce(host: string): Promise<readonly string[]> {
    const answer = await ask(host)
    const { ttlSeconds } = answer
    const addresses = [...new Set(answer.addresses)]
    if (ttlSeconds > 0 && addresses.length > 0) {
      kept.delete(host)
      kept.set(host, { addresses, until: now() + Math.min(ttlSeconds, LONGEST_SECONDS) * 1000 })
      keepNewest(kept, MAX_NAMES)
    }
    return addresses
  }

  function recall(host: string): readonly string[] | undefined {
    const known = kept.get(host)
    return known && known.until > now() ? known.addresses : undefined
  }

  return {
    recall,
    async ask(host) {
      const known = recall(host)
      if (known) return known
      let question = asking.get(host)
      if (!question) {
        question = askOnce(host).finally(() => asking.delete(host))
        asking.set(host, question)
      }
      return question
    },
  }
}
