// Which failures are of a statement, so that its connection is used again, and which are of the connection or of its server.
import pg from 'pg'
import { expect, it } from 'vitest'
import { onConnection, type Pool } from '../../../src/store/postgres/pool.ts'

/** @returns whether the connection is used again after it failed with this */
async function outlives(thrown: unknown): Promise<boolean> {
  let given: unknown
  const client = { on() {}, off() {}, release: (broken?: unknown) => (given = broken) }
  const pool = { connect: async () => client, isDistrusted: () => false, distrust() {} }
  const failing = onConnection(pool as unknown as Pool, () => Promise.reject(thrown as Error))
  await expect(failing).rejects.toBe(thrown)
  return given === undefined || given === false
}

/** As the driver throws it. */
function serverError(code: string | undefined, severity: string): pg.DatabaseError {
  const error = new pg.DatabaseError('told in the language of the server', 100, 'error')
  return Object.assign(error, { code, severity })
}

it.each(['ERROR', 'FEHLER', 'ERREUR', 'エラー'])(
  'a connection outlives what the server says of a statement, as %s',
  async (severity) => {
    for (const code of ['22012', '23505', '40001', '55P03', '57014'])
      expect(await outlives(serverError(code, severity)), code).toBe(true)
  },
)

it.each(['FATAL', 'SCHWERWIEGEND'])('and not the end of its session, as %s', async (severity) => {
  for (const code of ['57P01', '57P02', '57P03', '57P05', '08006', '25P03', undefined])
    expect(await outlives(serverError(code, severity)), code).toBe(false)
  expect(await outlives(new Error('Connection terminated unexpectedly'))).toBe(false)
})
