import type { Outcomes } from '../services.ts'

export function createOutcomes(): Outcomes {
  throw new Error('being written')
}
