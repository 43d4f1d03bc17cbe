// Keyset paging: ids are time-ordered, so a page is `id < before order by id desc` and costs the same at any depth.
import { all, type Command, type SqlValue, where } from './command.ts'
import type { Page, PageRequest } from './model.ts'

/** @returns a page of `select`, newest first, of the rows for which all conditions hold (see `where`) */
export function* selectPage<R, T>(
  select: { columns: string; from: string; id: string },
  conditions: readonly (readonly [string, SqlValue | undefined])[],
  page: PageRequest,
  toItem: (row: R) => T,
  idOf: (item: T) => string,
): Command<Page<T>> {
  const { text, values } = where([...conditions, [`${select.id} < $`, page.before]])
  const limit = Math.max(1, Math.floor(page.limit))
  // One row more than was asked for tells whether there is a next page.
  const rows: readonly R[] = yield* all<R>(
    `SELECT ${select.columns} FROM ${select.from} WHERE ${text} ORDER BY ${select.id} DESC LIMIT $${values.length + 1}`,
    ...values,
    limit + 1,
  )
  const items = rows.slice(0, limit).map(toItem)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? idOf(last) : null }
}
