// Who leads a piece of work, by the clock of the database: those of two processes may differ by more than a lease.
import { type Command, first } from '../command.ts'
import type { Millis } from '../model.ts'
import { SERVER_NOW as NOW } from './server-clock.ts'

/** A lease that lasts so much longer than one that began now was written by another clock, as a release before this one did. */
const AHEAD_MS = 15 * 60_000

const TAKE = `INSERT INTO leader_leases (name, holder, held_until) VALUES ($1, $2, ${NOW} + $3::bigint)
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
  WHERE leader_leases.holder = excluded.holder OR leader_leases.held_until <= ${NOW}
    OR leader_leases.held_until > ${NOW} + $3::bigint + ${AHEAD_MS} OR $4 = 1 RETURNING name`

/** `takeLeadership`; of `until` and `now` counts how far they are apart. */
export function* takeLeadership(input: {
  name: string
  holder: string
  until: Millis
  isAlone: boolean
  now: Millis
}): Command<boolean> {
  const { name, holder, until, isAlone, now } = input
  return (yield* first(TAKE, name, holder, until - now, isAlone ? 1 : 0)) !== undefined
}
