import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { columns, insertInto, where } from '../../../src/store/command.ts'
import { toSqlite } from '../../../src/store/sqlite/database.ts'

describe('statement text', () => {
  it('names columns as the ports name fields', () => {
    expect(columns(['id', 'accountId'])).toBe('id, account_id AS "accountId"')
    expect(insertInto('keys', ['id', 'accountId'])).toBe('INSERT INTO keys (id, account_id) VALUES ($1, $2)')
  })

  it('numbers only the conditions that apply, and keeps null apart from absent', () => {
    expect(
      where([
        ['a = $', 1],
        ['b = $', undefined],
        ['c IS $', null],
      ]),
    ).toEqual({
      text: 'a = $1 AND c IS $2',
      values: [1, null],
    })
    expect(where([['a = $', undefined]])).toEqual({ text: 'TRUE', values: [] })
  })

  it.each<readonly [string, string, readonly number[] | undefined]>([
    ['a = $1 AND b = $2', 'a = ? AND b = ?', undefined],
    ['a = $2 AND b = $12', 'a = ? AND b = ?', [1, 11]],
    ['VALUES ($1, $2, -$2, $1)', 'VALUES (?, ?, -?, ?)', [0, 1, 1, 0]],
    ['SELECT 1 ORDER BY id FOR SHARE', 'SELECT 1 ORDER BY id ', undefined],
    ['SELECT 1 FOR UPDATE SKIP LOCKED', 'SELECT 1 ', undefined],
    ['SELECT 1 FOR NO KEY UPDATE', 'SELECT 1 ', undefined],
    ['UPDATE t SET updated_at = $1', 'UPDATE t SET updated_at = ?', undefined],
  ])('turns %s into what SQLite reads', (text, expected, order) => {
    expect(toSqlite(text)).toEqual({ text: expected, order })
  })
})

/** Every statement is written in one of these, with the numbers of PostgreSQL. */
const sources = globSync('src/store/**/*.ts').filter((file) => /\$\d/.test(readFileSync(file, 'utf8')))

describe('placeholders with numbers', () => {
  it('are looked for where all commands are', () => {
    expect(sources).toContain(join('src', 'store', 'migrations.ts'))
    expect(sources.filter((file) => file.includes(join('store', 'commands'))).length).toBeGreaterThan(10)
  })

  it.each(sources)('of %s do not reach SQLite, which cannot fill them by place in Node 22.19', (file) => {
    expect(toSqlite(readFileSync(file, 'utf8')).text).not.toMatch(/[?$]\d/)
  })
})
