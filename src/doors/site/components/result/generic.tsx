// Any value, as a person reads it: members with their names, lists of alike things as a table, the rest in folds. It is bounded in depth
// and number, since the JSON beside it has everything.
import type { ComponentChildren, VNode } from 'preact'
import { Foreign, Ltr } from '../foreign.tsx'
import { Link } from '../link.tsx'
import type { ResultLook } from './look.ts'
import { isRecord, type Members, say } from './read.ts'

const MAX_ROWS = 30
const MAX_MEMBERS = 40
const MAX_COLUMNS = 6
const MAX_DEPTH = 5
const MAX_TEXT = 1500

interface ValueProps {
  readonly value: unknown
  readonly look: ResultLook
  readonly depth?: number
}

/** A value of any type. */
export function Value({ value, look, depth = 0 }: ValueProps): VNode {
  if (Array.isArray(value)) return <List items={value} look={look} depth={depth} />
  if (isRecord(value)) return <Pairs value={value} look={look} depth={depth} />
  return <>{scalar(value, look)}</>
}

/** Ids, digests, times and amounts read from left to right in every language. */
const PLAIN =
  /^(?:[a-z]{2,5}_[\w-]+|0x[\dA-Fa-f]+|[\w-]{24,}|eip155:\d+|\d{4}-\d\d-\d\dT[\d:.]+Z|-?[\d.,]+|[A-Z][A-Z_]+)$/

function scalar(value: unknown, { t }: ResultLook): ComponentChildren {
  if (value === null || value === undefined || value === '') return <span class="muted">{t.nothing}</span>
  if (typeof value === 'boolean') return value ? t.yes : t.no
  if (typeof value !== 'string') return <Ltr>{String(value)}</Ltr>
  if (/^https?:\/\//i.test(value) && value.length <= MAX_TEXT)
    return (
      <Link to={value} isForeign>
        <Foreign text={value} max={160} />
      </Link>
    )
  return PLAIN.test(value) && value.length <= 200 ? (
    <Ltr>{value}</Ltr>
  ) : (
    <Foreign text={value} max={MAX_TEXT} />
  )
}

const isScalar = (value: unknown) => !isRecord(value) && !Array.isArray(value)
const isShort = (value: unknown) => isScalar(value) && (typeof value !== 'string' || value.length <= 160)

/** `amount_atomic` -> `amount atomic`: the name as the JSON has it, with room to break. */
const Name = ({ name }: { readonly name: string }) => (
  <span dir="ltr" class="member">
    <Foreign text={name} max={80} />
  </span>
)

interface PartProps {
  readonly look: ResultLook
  readonly depth: number
}

export function Pairs({
  value,
  look,
  depth = 0,
  without = [],
}: {
  readonly value: Members
  readonly look: ResultLook
  readonly depth?: number
  readonly without?: readonly string[]
}): VNode {
  const all = Object.entries(value).filter(([name]) => !without.includes(name))
  const shown = all.slice(0, MAX_MEMBERS)
  const scalars = shown.filter(([, member]) => isScalar(member))
  const others = shown.filter(([, member]) => !isScalar(member))
  if (all.length === 0) return <p class="muted">{look.t.empty}</p>
  return (
    <div class="stack tight">
      {scalars.length > 0 && (
        <dl class="pairs">
          {scalars.map(([name, member]) => (
            <>
              <dt>
                <Name name={name} />
              </dt>
              <dd>{scalar(member, look)}</dd>
            </>
          ))}
        </dl>
      )}
      {others.map(([name, member]) => (
        <Fold name={name} value={member} look={look} depth={depth} />
      ))}
      <More left={all.length - shown.length} look={look} />
    </div>
  )
}

function Fold({ name, value, look, depth }: PartProps & { readonly name: string; readonly value: unknown }) {
  const size = Array.isArray(value) ? value.length : isRecord(value) ? Object.keys(value).length : 0
  if (size === 0 || depth >= MAX_DEPTH)
    return (
      <p>
        <Name name={name} /> <span class="muted">{size === 0 ? look.t.nothing : '…'}</span>
      </p>
    )
  return (
    <details open={depth === 0 && size <= 8}>
      <summary>
        <Name name={name} /> <span class="muted">{Array.isArray(value) ? size : ''}</span>
      </summary>
      <div class="inner">
        <Value value={value} look={look} depth={depth + 1} />
      </div>
    </details>
  )
}

function List({ items, look, depth }: PartProps & { readonly items: readonly unknown[] }): VNode {
  if (items.length === 0) return <p class="muted">{look.t.empty}</p>
  const shown = items.slice(0, MAX_ROWS)
  const records = shown.filter(isRecord)
  if (records.length === shown.length)
    return <Rows rows={records} all={items.length} look={look} depth={depth} />
  return (
    <>
      <ul class="values">
        {shown.map((item) => (
          <li>
            {isScalar(item) || depth >= MAX_DEPTH ? (
              scalar(isScalar(item) ? item : '…', look)
            ) : (
              <Value value={item} look={look} depth={depth + 1} />
            )}
          </li>
        ))}
      </ul>
      <More left={items.length - shown.length} look={look} />
    </>
  )
}

/** Alike things are rows where what they say is short; otherwise each has its own pairs. */
function Rows({
  rows,
  all,
  look,
  depth,
}: PartProps & { readonly rows: readonly Members[]; readonly all: number }): VNode {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) =>
    rows.every((row) => isShort(row[name])),
  )
  const left = <More left={all - rows.length} look={look} />
  if (columns.length < 2 || rows.some((row) => Object.keys(row).length > columns.length + 4))
    return (
      <div class="stack tight">
        {rows.map((row) => (
          <div class="entry">
            <Pairs value={row} look={look} depth={depth + 1} />
          </div>
        ))}
        {left}
      </div>
    )
  const drawn = columns.slice(0, MAX_COLUMNS)
  return (
    <>
      <div class="scrolling" role="region" aria-label={look.t.details} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {drawn.map((name) => (
                <th scope="col">
                  <Name name={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                {drawn.map((name) => (
                  <td>{scalar(row[name], look)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {left}
    </>
  )
}

export const More = ({ left, look }: { readonly left: number; readonly look: ResultLook }) =>
  left > 0 ? <p class="muted small">{say(look.t.moreItems, { n: left })}</p> : null
