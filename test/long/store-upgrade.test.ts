// A large database is brought to this release while other processes serve: a step may take longer than a call may, and waits for nobody in
// a way that keeps calls waiting.
import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Command, Row } from '../../src/store/command.ts'
import { postgresDialect } from '../../src/store/dialects.ts'
import { migrate, TABLE_VERSION } from '../../src/store/migrations.ts'
import { createPlace, type Place } from '../support/store.ts'

/** Before the indexes of payments by their payer. */
const BEFORE = 52

let place: Place
let other: pg.Client
beforeEach(async () => {
  place = await createPlace('postgres', 'upgrade')
  other = await connected()
  const steps: Command<void> = migrate(postgresDialect, 1, BEFORE)
  for (let step = steps.next(); !step.done;) {
    const { rows } = await other.query<Row>(step.value.text, [...step.value.values])
    step = steps.next(rows)
  }
})
afterEach(async () => {
  await other.end()
  await place.remove()
})

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: place.config.databaseUrl })
  client.on('error', () => {})
  await client.connect()
  return client
}
const reached = async () =>
  Number((await place.query('SELECT max(version) AS version FROM migrations'))[0]!['version'])
/** The first index of a step takes so long; `how` is what else happens then. */
async function slowDown(seconds: number, how = ''): Promise<void> {
  await other.query('CREATE SEQUENCE slow_steps')
  await other.query(`CREATE FUNCTION slow_step() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('slow_steps') = 1 THEN PERFORM pg_sleep(${seconds}); ${how} END IF; END $$`)
  await other.query(`CREATE EVENT TRIGGER slow_step ON ddl_command_start WHEN TAG IN ('CREATE INDEX')
    EXECUTE FUNCTION slow_step()`)
}

it('a step takes longer than a statement of a call may, whatever the limits of the role', async () => {
  await other.query(
    `ALTER DATABASE ${new URL(place.config.databaseUrl!).pathname.slice(1)} SET statement_timeout = '5s'`,
  )
  await slowDown(18)
  await place.open()
  expect(await reached()).toBe(TABLE_VERSION)
})

it('calls that want what a step waits for go first, and it comes through when it can', async () => {
  await other.query('BEGIN')
  await other.query('LOCK TABLE payment_claims IN ROW EXCLUSIVE MODE')
  const opening = place.open()
  opening.catch(() => {})
  const caller = await connected()
  let slowestMs = 0
  for (const until = performance.now() + 4000; performance.now() < until;) {
    const began = performance.now()
    await caller.query('BEGIN')
    await caller.query('LOCK TABLE payment_claims IN ROW EXCLUSIVE MODE')
    await caller.query('COMMIT')
    slowestMs = Math.max(slowestMs, performance.now() - began)
  }
  await caller.end()
  expect(slowestMs).toBeLessThan(2000)
  expect(await reached()).toBe(BEFORE)
  await other.query('COMMIT')
  await opening
  expect(await reached()).toBe(TABLE_VERSION)
})

it('who is told that the server ended a step is not told to look for a password', async () => {
  await slowDown(0, 'PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(1);')
  const told = await place.open().then(
    () => '',
    (thrown: Error) => thrown.message,
  )
  expect(told).toMatch(/cannot be used \(postgres 57014\)\. Somebody, or a limit of the server/)
  expect(told).not.toMatch(/user|password/)
  expect(await reached()).toBe(BEFORE)
})
