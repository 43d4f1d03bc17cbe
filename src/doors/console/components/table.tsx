// Tables of records: paged by the server, filtered by the address, and saying what to do where they are empty.
import type { ComponentChildren, VNode } from 'preact'
import { Link } from '../../site/components/link.tsx'
import { Scrolling } from '../../site/components/state.tsx'
import type { ConsoleContext } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'

export interface Column<T> {
  readonly head: string
  cell(row: T): ComponentChildren
  readonly isNumber?: boolean
}

interface TableProps<T> {
  readonly page: ConsoleContext
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  /** What to do where there is nothing. */
  readonly empty: ComponentChildren
  /** `before` of the next page; null at the end. Left out: all of it is here, whatever page another table of the page is at. */
  readonly next?: string | null
}

/** A page of records. */
export function Table<T>({ page, label, columns, rows, empty, next }: TableProps<T>): VNode {
  const t = consoleTexts[page.language]
  const query = new URLSearchParams(page.path.split('?')[1])
  const isFirst = next === undefined || !query.has('before')
  const older = next ?? undefined
  if (rows.length === 0 && isFirst && older === undefined) return <div class="console-empty">{empty}</div>
  return (
    <div class="stack">
      <Scrolling label={label}>
        <table>
          <thead>
            <tr>
              {columns.map(({ head, isNumber }) => (
                <th scope="col" class={isNumber ? 'number' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                {columns.map(({ cell, isNumber }) => (
                  <td class={isNumber ? 'number' : undefined}>{cell(row)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolling>
      {(!isFirst || older !== undefined) && (
        <nav class="row" aria-label={label}>
          {!isFirst && <Link to={page.href(withQuery(page.path, 'before', undefined))}>{t.newer}</Link>}
          {older !== undefined && (
            <Link to={page.href(withQuery(page.path, 'before', older))}>{t.older}</Link>
          )}
        </nav>
      )}
    </div>
  )
}

/** The same address with another value in its query. */
export function withQuery(path: string, name: string, value: string | undefined): string {
  const [bare = '', text] = path.split('?', 2)
  const query = new URLSearchParams(text)
  if (value === undefined) query.delete(name)
  else query.set(name, value)
  const rest = query.toString()
  return rest === '' ? bare : `${bare}?${rest}`
}

/** A time as people of every language read it, with the exact one for programs. */
export const Time = ({ at }: { readonly at: number | string | null }): VNode | null => {
  if (at === null) return null
  const iso = new Date(at).toISOString()
  return (
    <time dateTime={iso} dir="ltr" data-time="">
      {iso.slice(0, 16).replace('T', ' ')} UTC
    </time>
  )
}
