// A round trip and a commit cost as much for one call as for sixty, so calls go together: whatever comes while a group is under way
// is the next group. Nobody waits for company: a call that finds none under way leaves with those of the same turn of the event loop.
// And nobody waits for a stranger: whose rows somebody else keeps locked, waits for them in a line of his own, and takes turns with others
// whose are (../apart.ts).
import { stayedLocked } from '../apart.ts'
import { SHORT_WAIT_MS } from '../patience.ts'

// Measured: with two groups under way at once there are twice as many half as large, which cost the database twice as much.

/** Calls of one group: more take longer than the commit that they share. */
const MOST = 64
/**
 * What takes longer than this, and than so many times what is usual, waits for something that the others do not wait for: the common
 * line goes on without it. Time alone says nothing, because a database may be slow for everybody.
 */
const HELD_UP_MS = SHORT_WAIT_MS + 50
const HELD_UP_TIMES = 3
/** The last ends in the common line, of which the median is what is usual. */
const REMEMBERED = 15
/** Groups that the common line goes on without. Each gives up what is locked, though it may wait for several locks. */
const MOST_HELD_UP = 3

export interface Grouping<I, R> {
  /**
   * Does a whole group.
   * @returns an answer for each in order; undefined, and nothing done, for one that has to be asked for alone
   */
  readonly together: (inputs: readonly I[]) => Promise<readonly (R | undefined)[]>
  /** Does one as `together` does a group, and always has an answer. */
  readonly once: (input: I) => Promise<R>
  /** Does one, and waits for locks as long as it has to. */
  readonly alone: (input: I) => Promise<R>
  /** How long a call whose owner's rows are locked is let try. */
  readonly waitMs: number
  /** Runs what may find the rows of an owner locked, when it has its turn; rejects where it has none until then. */
  readonly takeTurn: (owner: string, until: number, work: () => Promise<void>) => Promise<void>
  /** Whose rows a call locks. */
  readonly ownerOf: (input: I) => string
  /** Whether a group that failed with this did nothing, through the fault of one of its members. */
  readonly isOfOne: (thrown: unknown) => boolean
  /** Whether what failed with this did nothing, because somebody else keeps rows locked. */
  readonly isHeldUp: (thrown: unknown) => boolean
}

interface Waiting<I, R> {
  readonly input: I
  /** When it gives up, on the clock of `performance`. */
  readonly until: number
  readonly resolve: (answer: R | PromiseLike<R>) => void
  readonly reject: (reason: unknown) => void
}

interface Line<I, R> {
  /** Undefined for the common one. */
  readonly owner: string | undefined
  waiting: Waiting<I, R>[]
  /** One at a time. */
  underWay: readonly Waiting<I, R>[] | undefined
  isCalled: boolean
  /** Groups that have left the common line with a call of this owner, and are held up. */
  heldUp: number
}

/** @returns asks for one input; rejects as the functions of the grouping do */
export function gather<I, R>(grouping: Grouping<I, R>): (input: I) => Promise<R> {
  const { together, once, alone, takeTurn, waitMs, ownerOf, isOfOne, isHeldUp } = grouping
  const common = createLine<I, R>()
  /** Owners whose rows are locked by somebody else, until one of their groups finds them free. */
  const own = new Map<string, Line<I, R>>()
  /** Groups that the common line goes on without. */
  let aside = 0
  const usual = createMedian(REMEMBERED)
  const patienceMs = () => Math.max(HELD_UP_MS, HELD_UP_TIMES * usual.median())

  const leaveAlone = ({ input, resolve }: Waiting<I, R>) => resolve(alone(input))

  async function leave(group: readonly Waiting<I, R>[]): Promise<void> {
    const [only] = group
    if (only && group.length === 1) {
      only.resolve(await once(only.input))
      return
    }
    const answers = await together(group.map(({ input }) => input))
    for (const [i, member] of group.entries()) {
      const answer = answers[i]
      if (answer === undefined) leaveAlone(member)
      else member.resolve(answer)
    }
  }

  function fail(group: readonly Waiting<I, R>[], thrown: unknown): void {
    if (group.length > 1 && isOfOne(thrown)) group.forEach(leaveAlone)
    else for (const { reject } of group) reject(thrown)
  }

  /** It found something locked: nothing was done, and its owners have lines of their own now, where it comes before who waits there. */
  function partLocked(group: readonly Waiting<I, R>[]): void {
    for (const member of group.toReversed())
      if (member.until <= performance.now()) member.reject(stayedLocked())
      else openOwn(member).waiting.unshift(member)
    part(group)
  }

  /** @returns whether it found something locked, or took longer than is usual */
  async function send(line: Line<I, R>, group: readonly Waiting<I, R>[]): Promise<boolean> {
    const isCommon = line.owner === undefined
    const started = performance.now()
    const tookMs = () => performance.now() - started
    const timer = isCommon ? setTimeout(() => stepAside(group), patienceMs()) : undefined
    let isDone = false
    let isLocked = false
    try {
      await leave(group)
      isDone = true
    } catch (thrown) {
      isLocked = isHeldUp(thrown)
      if (!isLocked) fail(group, thrown)
    } finally {
      clearTimeout(timer)
    }
    const isSlow = tookMs() >= patienceMs()
    // A call alone may have to wait for several locks, and that must not become what is usual.
    if (isCommon && isDone && !(isSlow && group.length === 1)) usual.add(tookMs())
    if (line.underWay === group) line.underWay = undefined
    else comeBack(group, isDone)
    if (isLocked) partLocked(group)
    return isLocked || isSlow
  }

  /** The common line goes on without a group that is held up, and without its owners. */
  function stepAside(group: readonly Waiting<I, R>[]): void {
    if (aside >= MOST_HELD_UP) return
    aside++
    for (const member of group) openOwn(member).heldUp++
    part()
    common.underWay = undefined
    call(common)
  }
  function comeBack(group: readonly Waiting<I, R>[], isDone: boolean): void {
    aside--
    const lines = group.map(openOwn)
    for (const line of lines) line.heldUp--
    for (const line of lines) {
      // A group gives up on locked rows: one that came through was only slow, and its owners wait for nobody.
      if (isDone && group.length > 1) rejoin(line)
      call(line)
    }
  }

  async function next(line: Line<I, R>): Promise<void> {
    line.isCalled = false
    if (line.underWay || line.waiting.length === 0) return
    const { owner } = line
    if (owner === undefined) await send(line, take(line))
    else {
      const [first] = line.waiting
      line.underWay = []
      await takeTurn(owner, first!.until, () => goApart(line)).catch(() => {
        // It was too late for the first one at least.
        const group = take(line)
        line.underWay = undefined
        partLocked(group)
      })
    }
    call(line)
  }
  async function goApart(line: Line<I, R>): Promise<void> {
    // Whoever waits for a turn takes along who came meanwhile, or nobody, where all have gone back to the others.
    const group = take(line)
    if (group.length === 0) line.underWay = undefined
    else if (!(await send(line, group))) rejoin(line)
  }
  function take(line: Line<I, R>): readonly Waiting<I, R>[] {
    const group = line.waiting.splice(0, MOST)
    line.underWay = group
    return group
  }
  /** It is no slower than the others, so that the lock is gone: apart from them it would only cost more. */
  function rejoin(line: Line<I, R>): void {
    // At once: in a line that is about to end nobody who calls meanwhile would be with the others.
    leaveOwn(line)
    common.waiting.push(...line.waiting.splice(0))
    call(common)
  }
  function call(line: Line<I, R>): void {
    if (line.isCalled || line.underWay) return
    if (line.waiting.length > 0) {
      line.isCalled = true
      setImmediate(() => void next(line))
    } else leaveOwn(line)
  }
  function leaveOwn(line: Line<I, R>): void {
    const { owner } = line
    if (owner !== undefined && line.heldUp === 0 && own.get(owner) === line) own.delete(owner)
  }

  function openOwn({ input }: Waiting<I, R>): Line<I, R> {
    const owner = ownerOf(input)
    const line = own.get(owner) ?? createLine<I, R>(owner)
    own.set(owner, line)
    return line
  }
  /**
   * Whoever waits in the common line, and has one of his own now, goes there.
   * @param apart who is in a line of his own already
   */
  function part(apart: readonly Waiting<I, R>[] = []): void {
    const waiting = common.waiting.splice(0)
    for (const member of waiting) lineOf(member).waiting.push(member)
    for (const member of [...apart, ...waiting]) call(lineOf(member))
  }
  const lineOf = ({ input }: Waiting<I, R>): Line<I, R> => own.get(ownerOf(input)) ?? common
  function add(line: Line<I, R>, member: Waiting<I, R>): void {
    line.waiting.push(member)
    call(line)
  }

  return (input) =>
    new Promise((resolve, reject) => {
      const member = { input, until: performance.now() + waitMs, resolve, reject }
      add(lineOf(member), member)
    })
}

/** Of the last values; 0 until half of them are known, so that the first ones alone are not what is usual. */
function createMedian(length: number) {
  const latest = Array.from({ length }, () => 0)
  return {
    add(value: number): void {
      latest.push(value)
      latest.shift()
    },
    median: (): number => latest.toSorted((a, b) => a - b)[Math.floor(length / 2)]!,
  }
}

const createLine = <I, R>(owner?: string): Line<I, R> => ({
  owner,
  waiting: [],
  underWay: undefined,
  isCalled: false,
  heldUp: 0,
})
