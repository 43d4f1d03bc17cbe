// How much work one search may do. Work is counted in steps and not by a clock, so that the same answer is judged the same on
// every machine, however busy: refused or searched, never now this and now that.

/** Thrown where a search would cost more than it may. It says nothing of the answer, least of all that it is clean. */
export class OverBudget extends Error {
  constructor() {
    super('the search of a response went over its budget')
    this.name = 'OverBudget'
  }
}

/** A step is what it takes to look at one byte once: about a nanosecond. */
export interface Budget {
  /**
   * Called before the work that it pays for, in portions of at most one pass over the bytes at hand.
   * @throws {OverBudget} when less than `steps` are left; the search ends there
   */
  spend(steps: number): void
}

export function createBudget(steps: number): Budget {
  let left = steps
  return {
    spend(steps) {
      left -= steps
      if (left < 0) throw new OverBudget()
    },
  }
}
