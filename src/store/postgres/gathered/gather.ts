// A round trip and a commit cost as much for one call as for sixty, so calls go together: whatever comes while a group is under way
// is the next group. Nobody waits for company: a call that finds none under way leaves with those of the same turn of the event loop.

/** Groups under way at once. Measured: with two there are twice as many groups half as large, which cost the database twice as much. */
const LANES = 1
/** Calls of one group: more take longer than the commit that they share. */
const MOST = 64
/** A group that is held up, by a lock that somebody keeps on a row of one of its calls, leaves its lane to those of others after this. */
const HELD_UP_MS = 100
/** Two commands are gathered, and some connections are left to everything else (POOL_SIZE). */
const MOST_HELD_UP = 5

export interface Grouping<I, R> {
  /**
   * Does a whole group.
   * @returns an answer for each in order; undefined, and nothing done, for one that has to be asked for alone
   */
  readonly together: (inputs: readonly I[]) => Promise<readonly (R | undefined)[]>
  readonly alone: (input: I) => Promise<R>
  /** Whether a group that failed with this did nothing, through the fault of one of its members. */
  readonly isOfOne: (thrown: unknown) => boolean
}

interface Waiting<I, R> {
  readonly input: I
  readonly resolve: (answer: R | PromiseLike<R>) => void
  readonly reject: (reason: unknown) => void
}

/** @returns asks for one input; rejects as `together` or `alone` does */
export function gather<I, R>({ together, alone, isOfOne }: Grouping<I, R>): (input: I) => Promise<R> {
  let waiting: Waiting<I, R>[] = []
  let underWay = 0
  let heldUp = 0
  let isCalled = false

  const leaveAlone = ({ input, resolve }: Waiting<I, R>) => resolve(alone(input))

  async function leave(group: readonly Waiting<I, R>[]): Promise<void> {
    const [only] = group
    if (only && group.length === 1) {
      const answer = alone(only.input)
      only.resolve(answer)
      await answer
      return
    }
    const answers = await together(group.map(({ input }) => input))
    for (const [i, member] of group.entries()) {
      const answer = answers[i]
      if (answer === undefined) leaveAlone(member)
      else member.resolve(answer)
    }
  }

  function send(group: readonly Waiting<I, R>[]): void {
    let isHeldUp = false
    underWay++
    const timer = setTimeout(() => {
      if (heldUp >= MOST_HELD_UP) return
      isHeldUp = true
      heldUp++
      underWay--
      call()
    }, HELD_UP_MS)
    leave(group)
      .catch((thrown: unknown) => {
        for (const member of group)
          if (group.length > 1 && isOfOne(thrown)) leaveAlone(member)
          else member.reject(thrown)
      })
      .finally(() => {
        clearTimeout(timer)
        if (isHeldUp) heldUp--
        else underWay--
        call()
      })
  }
  function next(): void {
    isCalled = false
    while (underWay < LANES && waiting.length > 0) {
      const group = waiting.slice(0, MOST)
      waiting = waiting.slice(MOST)
      send(group)
    }
  }
  function call(): void {
    if (isCalled || underWay >= LANES || waiting.length === 0) return
    isCalled = true
    setImmediate(next)
  }

  return (input) =>
    new Promise((resolve, reject) => {
      waiting.push({ input, resolve, reject })
      call()
    })
}
