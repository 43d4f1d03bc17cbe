// The operator's documents when PostgreSQL is set: one row each, changed by compare-and-set on its revision.
import { GatewayError } from '../../core/errors.ts'
import { parseOperatorJson } from '../../lib/operator-json.ts'
import { describeFault } from './fault.ts'
import type { Logger } from '../../lib/log.ts'
import { type Command, first } from '../command.ts'
import { storeClosed } from '../failure.ts'
import type { DocumentKind, DocumentStore } from '../ports.ts'
import { createPool, type DatabaseAddress, runDirect } from '../postgres/pool.ts'

const POOL_SIZE = 2

/** Of no row: what is no number is nothing that was read. */
const NO_REVISION = -1

interface Kept<T> {
  readonly value: T
  /** 0: there is no row yet. */
  readonly revision: number
  readonly problem?: string
}

interface Found {
  readonly readOnly: string | null
  readonly revision: number | null
  readonly json: string | null
}
const LOOK = `
  SELECT said.read_only AS "readOnly", revision, json
  FROM (SELECT current_setting('transaction_read_only', true) AS read_only) said
  LEFT JOIN documents ON name = $1`
const rowOf = ({ revision, json }: Found) =>
  revision === null || json === null ? undefined : { revision, json }

/** The store must have been opened before: it makes the tables. */
export function openTableDocuments(address: DatabaseAddress, log: Logger): DocumentStore {
  const pool = createPool(address, log, POOL_SIZE)
  const lastGood = new Map<string, unknown>()
  let closing: Promise<void> | undefined

  const run = <T>(start: () => Command<T>): Promise<T> =>
    closing ? Promise.reject(storeClosed()) : runDirect(pool, start)

  /** These are only read for days: a server that takes no writes any more is found out by what it says of itself. */
  async function find(name: string): Promise<{ revision: number; json: string } | undefined> {
    const found = await look(name)
    if (!found?.isReadOnly) return found?.row
    // Its address may lead to the server that takes writes now; where it does not, what this one has is what there is.
    pool.distrust()
    return (await look(name))?.row
  }
  async function look(name: string) {
    const found = await run(() => first<Found>(LOOK, name))
    return found && { isReadOnly: found.readOnly === 'on', row: rowOf(found) }
  }

  /** @throws {GatewayError} state_conflict where the row is of another revision by now */
  async function save(name: string, json: string, revision: number): Promise<void> {
    const saved = await run(() =>
      revision === 0
        ? first(
            `INSERT INTO documents (name, revision, json) VALUES ($1, 1, $2)
             ON CONFLICT DO NOTHING RETURNING name`,
            name,
            json,
          )
        : first(
            `UPDATE documents SET revision = revision + 1, json = $1 WHERE name = $2 AND revision = $3
             RETURNING name`,
            json,
            name,
            revision,
          ),
    )
    if (!saved)
      throw new GatewayError(
        'state_conflict',
        `The document ${name} was changed meanwhile. Read it again, then repeat the change.`,
      )
  }

  async function load<T>(document: DocumentKind<T>): Promise<Kept<T>> {
    const row = await find(document.name)
    if (!row) return { value: document.initial, revision: 0 }
    try {
      const value = document.parse(parseOperatorJson(row.json))
      lastGood.set(document.name, value)
      return { value, revision: row.revision }
    } catch (thrown) {
      const good = lastGood.get(document.name) as T | undefined
      return {
        value: good ?? document.initial,
        revision: row.revision,
        problem: describeFault(`The document ${document.name}`, thrown, good !== undefined),
      }
    }
  }
  return {
    async read(document) {
      const { value, problem } = await load(document)
      return problem === undefined ? { value } : { value, problem }
    },
    async update(document, change) {
      const { value, revision, problem } = await load(document)
      if (problem !== undefined)
        throw new GatewayError('state_conflict', `${problem} Repair it by hand before changing it here.`)
      const next = document.parse(change(structuredClone(value)))
      await save(document.name, JSON.stringify(next), revision)
      return next
    },
    async readText({ name }) {
      const row = await find(name)
      return { text: row?.json, revision: String(row?.revision ?? 0) }
    },
    async replaceText(document, { text, revision }) {
      const next = document.parse(parseOperatorJson(text))
      await save(document.name, text, /^\d{1,15}$/.test(revision) ? Number(revision) : NO_REVISION)
      return next
    },
    close: () => (closing ??= pool.end()),
  }
}
