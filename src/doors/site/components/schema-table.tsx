// What a tool takes or gives, as a table: a field a row, and what is inside of one behind a line that opens.
import type { VNode } from 'preact'
import type { PageContext } from '../ports.ts'
import { type SchemaTexts, schemaTexts } from '../texts/schema.ts'
import { English } from './english.tsx'
import { Foreign } from './foreign.tsx'
import { type SchemaGroup, schemaGroups, type SchemaRow } from './schema/rows.ts'

interface SchemaTableProps {
  /** JSON Schema of an object. */
  readonly schema: Readonly<Record<string, unknown>>
  readonly page: Pick<PageContext, 'language'>
  /** Names the table to who hears it. */
  readonly label: string
  /** Of what is sent it is worth saying what must be there; of what comes back, what may be missing. */
  readonly kind: 'input' | 'output'
  /** A stranger wrote it. */
  readonly isForeign?: boolean | undefined
}

interface Reading extends Omit<SchemaTableProps, 'schema'> {
  readonly t: SchemaTexts
}

/** A listing has up to 32 routes with three schemas each on its page: sixty fields and 20,000 characters of each. */
const STRANGERS_SHARE = 0.1

/** The fields of a schema; a sentence where it has none. */
export function SchemaTable({ schema, ...reading }: SchemaTableProps): VNode {
  const t = schemaTexts[reading.page.language]
  const groups = schemaGroups(schema, t, reading.isForeign ? STRANGERS_SHARE : 1)
  if (groups.length === 0) return <p class="muted">{reading.kind === 'input' ? t.nothing : t.types.any}</p>
  const [only] = groups
  if (groups.length === 1 && only) return <Fields {...reading} t={t} group={only} label={reading.label} />
  return (
    <>
      {groups.map((group) => (
        <Fields {...reading} t={t} group={group} label={`${reading.label}: ${group.label}`} isNamed />
      ))}
    </>
  )
}

function Fields({
  group,
  isNamed,
  ...reading
}: Reading & { readonly group: SchemaGroup; readonly isNamed?: boolean }): VNode {
  const { t, label } = reading
  return (
    <table class="schema">
      <caption class={isNamed ? undefined : 'visually-hidden'}>{label}</caption>
      <thead class="visually-hidden">
        <tr>
          <th scope="col">{t.field}</th>
          <th scope="col">{t.meaning}</th>
        </tr>
      </thead>
      <tbody>
        {group.rows.map((row) => (
          <Row {...reading} row={row} />
        ))}
        {group.isCut && (
          <tr>
            <td colSpan={2} class="muted">
              {t.tooDeep}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

function Row({ row, ...reading }: Reading & { readonly row: SchemaRow }): VNode {
  const { t, kind, page, isForeign } = reading
  return (
    <tr>
      <th scope="row">
        {isForeign ? <Foreign text={row.name} max={80} class="mono" /> : <code dir="ltr">{row.name}</code>}
        <span class="schema-type">{row.type}</span>
        {kind === 'input' && row.isRequired && <span class="schema-required">{t.required}</span>}
        {kind === 'output' && !row.isRequired && <span class="schema-optional">{t.optional}</span>}
      </th>
      <td>
        {row.description !== undefined &&
          (isForeign ? (
            <p>
              <Foreign text={row.description} max={600} />
            </p>
          ) : (
            <English text={row.description} page={page} as="p" />
          ))}
        <Facts row={row} t={t} isForeign={isForeign} />
        {row.groups.map((group, at) => (
          <details class="schema-inner">
            <summary>{group.label}</summary>
            <Fields
              {...reading}
              group={group}
              label={`${row.name}${row.groups.length > 1 ? ` ${at + 1}` : ''}`}
            />
          </details>
        ))}
      </td>
    </tr>
  )
}

interface FactsProps extends Pick<Reading, 't' | 'isForeign'> {
  readonly row: SchemaRow
}

/** What the value is held to, in one line of small words. */
function Facts({ row, t, isForeign }: FactsProps): VNode | null {
  const { limits, pattern, values, byDefault, example } = row
  if (limits.length + values.length === 0 && !pattern && byDefault === undefined && example === undefined)
    return null
  const isFixed = values.length === 1
  return (
    <ul class="schema-facts">
      {values.length > 0 && (
        <li>
          {isFixed ? t.always : t.oneOf} <Codes isForeign={isForeign} of={values} />
        </li>
      )}
      {limits.map((limit) => (
        <li>{limit}</li>
      ))}
      {pattern !== undefined && (
        <li>
          {t.pattern} <Codes isForeign={isForeign} of={[pattern]} />
        </li>
      )}
      {byDefault !== undefined && (
        <li>
          {t.byDefault} <Codes isForeign={isForeign} of={[byDefault]} />
        </li>
      )}
      {example !== undefined && (
        <li>
          {t.example} <Codes isForeign={isForeign} of={[example]} />
        </li>
      )}
    </ul>
  )
}

interface CodesProps extends Pick<Reading, 'isForeign'> {
  readonly of: readonly string[]
}

const Codes = ({ of, isForeign }: CodesProps): VNode => (
  <>
    {of.map((value, at) => [
      at > 0 && ' ',
      <code dir="ltr">{isForeign ? <Foreign text={value} max={160} /> : value}</code>,
    ])}
  </>
)
