// How much work it may be to judge a value by a stranger's schema (json-schema.ts), patterns included.
import { RE2JS } from 're2js'

/** Steps for one value, unless more are given. */
export const MAX_STEPS = 20_000
/** The automaton of a pattern of this length has at most a few thousand states. */
const MAX_PATTERN_CHARS = 256
/** A character that meets a state of the automaton costs 20 ns at worst: 20,000 steps are then 50 ms. */
const STATES_A_STEP = 128

/** What one judgement is given. */
export interface Means {
  readonly steps: number
  compile(pattern: string): RE2JS
}

/** The work that one judgement has done so far. */
export class Work {
  #means: Means | undefined
  #steps = 0
  #matching = 0

  begin(means: Means): void {
    this.#means = means
    this.#steps = this.#matching = 0
  }

  step(cost: number): void {
    this.#steps += cost
    if (this.#steps > (this.#means?.steps ?? 0)) throw new Stop('costly')
  }

  matches(pattern: string, text: string): boolean {
    if (pattern.length > MAX_PATTERN_CHARS || !this.#means) throw new Stop('costly')
    const compiled = this.#means.compile(pattern)
    const cost = (compiled.programSize() * (text.length + 1)) / STATES_A_STEP
    this.#matching += cost
    if (this.#matching > MAX_STEPS) throw new Stop('costly')
    this.step(cost)
    return compiled.test(text)
  }
}

/** Why a judgement was given up. */
export class Stop extends Error {
  readonly reason: 'unsupported' | 'costly'
  constructor(reason: Stop['reason']) {
    super(reason)
    this.reason = reason
  }
}

/**
 * A stranger's pattern may backtrack for ever, so an automaton judges it, in time linear in the text. A clock that stops
 * the built-in engine would judge by how busy the machine is.
 * @throws {Stop}
 */
export function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch {
    // No pattern at all, or one with look-around or back references.
    throw new Stop('unsupported')
  }
}
