// A form made from a JSON Schema: the same on the server, where it is sent as it is, and in the browser.
import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Prose } from '../code.tsx'
import { Foreign } from '../foreign.tsx'
import type { FormTexts } from '../../texts/form.ts'
import { faultAt, type FieldFault, pointerTo, READ_AS } from './read.ts'
import {
  choicesOf,
  isAddress,
  isOpen,
  isRequired,
  membersOf,
  plain,
  restOf,
  type Schema,
  type Widget,
  widgetOf,
} from './schema.ts'

export interface FormLook {
  readonly t: FormTexts
  readonly faults: readonly FieldFault[]
  /** Tells the ids of this form from those of another on the page. */
  readonly id: string
  /** Members that are filled in elsewhere, or not at all. */
  readonly hidden: readonly string[]
  /** Members that nobody may read over a shoulder, and no browser keeps. */
  readonly secret: readonly string[]
}

interface FormFieldsProps extends FormLook {
  readonly schema: Schema
  /** What is filled in. */
  readonly value: Readonly<Record<string, unknown>>
}

/** The fields of an input. */
export function FormFields({ schema, value, ...look }: FormFieldsProps): VNode {
  const rest = restOf(schema, value)
  const hasRest = Object.keys(rest).length > 0
  return (
    <>
      <Members schema={schema} value={value} at="" look={look} />
      {(hasRest || isOpen(schema)) && (
        <FieldFrame name={look.t.rest} description={look.t.restHint} at="" look={look}>
          {(props) => (
            <textarea
              {...props}
              name={READ_AS.rest}
              rows={4}
              dir="ltr"
              spellcheck={false}
              defaultValue={hasRest ? pretty(rest) : ''}
            />
          )}
        </FieldFrame>
      )}
    </>
  )
}

interface MembersProps {
  readonly schema: Schema
  readonly value: Readonly<Record<string, unknown>>
  readonly at: string
  readonly look: FormLook
}

/** What must be given or is given comes first; the rest waits in a fold, where it is much. */
function Members({ schema, value, at, look }: MembersProps): VNode {
  const members = membersOf(schema).filter(([name]) => at !== '' || !look.hidden.includes(name))
  const isFirst = ([name]: (typeof members)[number]) => isRequired(schema, name) || value[name] !== undefined
  const draw = ([name, member]: (typeof members)[number]) => (
    <Field
      name={name}
      schema={member}
      value={value[name]}
      at={pointerTo(at, name)}
      isNeeded={isRequired(schema, name)}
      look={look}
    />
  )
  const others = members.filter((member) => !isFirst(member))
  if (others.length <= MOST_UNFOLDED) return <>{members.map(draw)}</>
  const hasFault = others.some(([name]) => faultAt(look.faults, pointerTo(at, name)))
  return (
    <>
      {members.filter(isFirst).map(draw)}
      <details class="more-fields" open={hasFault}>
        <summary>{look.t.more.replace('{n}', String(others.length))}</summary>
        <div class="stack">{others.map(draw)}</div>
      </details>
    </>
  )
}
const MOST_UNFOLDED = 3

interface FieldProps {
  readonly name: string
  readonly schema: Schema
  readonly value: unknown
  readonly at: string
  readonly isNeeded: boolean
  readonly look: FormLook
}

function Field({ name, schema: given, value, at, isNeeded, look }: FieldProps): VNode {
  const schema = plain(given)
  const widget = widgetOf(schema, value, name)
  if (widget === 'group') return <Group {...{ name, schema, value, at, isNeeded, look }} />
  const draw = WIDGETS[widget]
  const description = typeof schema['description'] === 'string' ? schema['description'] : ''
  return (
    <FieldFrame
      name={name}
      description={description}
      bounds={boundsOf(schema, widget, look.t)}
      at={at}
      isNeeded={isNeeded}
      isGroup={widget === 'boxes' || widget === 'rows'}
      look={look}
    >
      {(props) => draw({ props, at, schema, value, look, isSecret: look.secret.includes(name) })}
    </FieldFrame>
  )
}

function Group({ name, schema, value, at, isNeeded, look }: FieldProps): VNode {
  const fault = faultAt(look.faults, at)
  return (
    <fieldset class="stack" aria-describedby={`${look.id}${at}-hint`}>
      <legend>
        <code>{name}</code> {isNeeded && <span class="needed">{look.t.required}</span>}
      </legend>
      <p class="hint" id={`${look.id}${at}-hint`}>
        {typeof schema['description'] === 'string' && <English text={schema['description']} look={look} />}{' '}
        {fault?.pointer === at && <Foreign text={fault.message} class="fault" />}
      </p>
      <Members schema={schema} value={isRecord(value) ? value : {}} at={at} look={look} />
    </fieldset>
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string
  readonly 'aria-invalid'?: 'true'
  readonly 'aria-required'?: 'true'
}

interface FrameProps {
  readonly name: string
  readonly description: string
  readonly bounds?: string
  readonly at: string
  readonly isNeeded?: boolean
  /** Several controls under one name. */
  readonly isGroup?: boolean
  readonly look: FormLook
  readonly children: (props: ControlProps) => ComponentChildren
}

/** Name, control, what it is for, and what is wrong with it. */
function FieldFrame({ name, description, bounds, at, isNeeded, isGroup, look, children }: FrameProps): VNode {
  const id = `${look.id}${at}`
  const fault = faultAt(look.faults, at)
  const place = fault && fault.pointer !== at ? fault.pointer.slice(at.length) : ''
  const props: ControlProps = {
    id,
    'aria-describedby': `${id}-hint ${id}-fault`,
    ...(fault && { 'aria-invalid': 'true' as const }),
    ...(isNeeded && { 'aria-required': 'true' as const }),
  }
  const label = (
    <>
      <code>{name}</code> {isNeeded && <span class="needed">{look.t.required}</span>}
    </>
  )
  return (
    <div
      class="field"
      {...(isGroup && { role: 'group', 'aria-labelledby': `${id}-label`, 'aria-describedby': `${id}-hint` })}
    >
      {isGroup ? (
        <span class="label" id={`${id}-label`}>
          {label}
        </span>
      ) : (
        <label for={id}>{label}</label>
      )}
      {children(props)}
      <p class="hint" id={`${id}-hint`}>
        <English text={description} look={look} />
        {description !== '' && bounds !== undefined && bounds !== '' && ' · '}
        <bdi>{bounds}</bdi>
      </p>
      <p class="fault" id={`${id}-fault`}>
        {fault && (
          <>
            <span aria-hidden="true">■</span> {place !== '' && <code>{place}</code>}{' '}
            <Foreign text={fault.message} />
          </>
        )}
      </p>
    </div>
  )
}

/** A text of the registry. */
const English = ({ text, look }: { readonly text: string; readonly look: FormLook }): VNode =>
  look.t.isEnglish ? (
    <Prose text={text} />
  ) : (
    <bdi lang="en" dir="ltr">
      <Prose text={text} />
    </bdi>
  )

interface Drawing {
  readonly props: ControlProps
  readonly at: string
  readonly schema: Schema
  readonly value: unknown
  readonly look: FormLook
  readonly isSecret: boolean
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2)
const linesIn = (text: string, least: number) => Math.min(16, Math.max(least, text.split('\n').length))

const WIDGETS: Readonly<Record<Exclude<Widget, 'group'>, (drawing: Drawing) => ComponentChildren>> = {
  line: ({ props, at, schema, value, isSecret }) => (
    <input
      {...props}
      {...(isSecret ? { type: 'password' as const } : { type: 'text' as const })}
      name={at}
      defaultValue={textOf(value)}
      placeholder={placeholderOf(schema)}
      {...(isAddress(at.slice(at.lastIndexOf('/') + 1), schema) && { inputMode: 'url' as const })}
      dir="auto"
      autocomplete="off"
      autocapitalize="off"
      spellcheck={false}
    />
  ),
  area: ({ props, at, value, isSecret }) => (
    <textarea
      {...props}
      {...(isSecret && { class: 'secret', autocomplete: 'off' as const })}
      name={at}
      rows={linesIn(textOf(value), 3)}
      defaultValue={textOf(value)}
      dir="auto"
      spellcheck={false}
    />
  ),
  // Browsers send nothing at all for what is no number in a field of numbers; here the gateway says what is wrong with it.
  number: ({ props, at, schema, value }) => (
    <input
      {...props}
      type="text"
      inputMode="decimal"
      name={at}
      class="short"
      defaultValue={typeof value === 'number' ? String(value) : ''}
      placeholder={placeholderOf(schema)}
      dir="ltr"
      autocomplete="off"
    />
  ),
  choice: ({ props, at, schema, value, look }) => (
    <select {...props} name={at}>
      <option value="" selected={value === undefined}>
        {unsaid(schema, look.t)}
      </option>
      {choicesOf(schema)?.map((choice) => (
        <option value={choice} selected={choice === value}>
          {choice}
        </option>
      ))}
    </select>
  ),
  truth: ({ props, at, schema, value, look }) => (
    <select {...props} name={at}>
      <option value="" selected={value === undefined}>
        {unsaid(schema, look.t)}
      </option>
      <option value="true" selected={value === true}>
        true
      </option>
      <option value="false" selected={value === false}>
        false
      </option>
    </select>
  ),
  lines: ({ props, at, value }) => {
    const lines = Array.isArray(value) ? value.join('\n') : ''
    return (
      <textarea
        {...props}
        name={READ_AS.lines + at}
        rows={linesIn(lines, 2)}
        wrap="off"
        defaultValue={lines}
        dir="ltr"
        spellcheck={false}
      />
    )
  },
  boxes: ({ props, at, schema, value }) => (
    <div class="row boxes" id={props.id}>
      {(choicesOf((schema['items'] ?? {}) as Schema) ?? []).map((choice) => (
        <label>
          <input
            type="checkbox"
            name={READ_AS.boxes + at}
            value={choice}
            defaultChecked={Array.isArray(value) && value.includes(choice)}
          />{' '}
          <span dir="ltr">{choice}</span>
        </label>
      ))}
    </div>
  ),
  rows: ({ props, at, value, look }) => <Rows id={props.id} at={at} value={value} t={look.t} />,
  json: ({ props, at, value, look }) => {
    const text = value === undefined ? '' : pretty(value)
    return (
      <textarea
        {...props}
        name={READ_AS.json + at}
        rows={linesIn(text, 3)}
        defaultValue={text}
        placeholder={look.t.json}
        dir="ltr"
        spellcheck={false}
      />
    )
  },
}

interface RowsProps {
  readonly id: string
  readonly at: string
  readonly value: unknown
  readonly t: FormTexts
}

/** Names with values, such as headers, with room for further ones. */
function Rows({ id, at, value, t }: RowsProps): VNode {
  const pairs = isRecord(value) ? Object.entries(value) : []
  const [further, setFurther] = useState(1)
  const rows = [...pairs, ...Array.from({ length: further }, () => ['', ''] as const)]
  return (
    <div class="rows" id={id}>
      {rows.map(([name, text], index) => (
        <div class="pair">
          <input
            type="text"
            name={READ_AS.name + at}
            defaultValue={name}
            aria-label={`${t.rowName} ${index + 1}`}
            placeholder={t.rowName}
            dir="ltr"
            autocomplete="off"
            spellcheck={false}
          />
          <input
            type="text"
            name={READ_AS.value + at}
            defaultValue={typeof text === 'string' ? text : ''}
            aria-label={`${t.rowValue} ${index + 1}`}
            placeholder={t.rowValue}
            dir="ltr"
            autocomplete="off"
            spellcheck={false}
          />
        </div>
      ))}
      <button type="button" class="needs-script minor" onClick={() => setFurther(further + 1)}>
        {t.addRow}
      </button>
    </div>
  )
}

/** What holds where nothing is said. */
function unsaid(schema: Schema, t: FormTexts): string {
  const usual = schema['default']
  return usual === undefined ? t.unsaid : t.usually.replace('{value}', String(usual))
}

function placeholderOf(schema: Schema): string | undefined {
  const usual = schema['default']
  return typeof usual === 'string' || typeof usual === 'number' ? String(usual) : undefined
}

/** Bounds that somebody may want to know before the gateway says them. */
function boundsOf(schema: Schema, widget: Widget, t: FormTexts): string {
  const { minimum, maximum, maxLength, maxItems } = schema
  const parts = [
    widget === 'number' && typeof minimum === 'number' && typeof maximum === 'number'
      ? t.between.replace('{min}', String(minimum)).replace('{max}', String(maximum))
      : undefined,
    typeof maxLength === 'number' && (widget === 'area' || widget === 'line') && maxLength >= MENTIONED
      ? t.characters.replace('{n}', maxLength.toLocaleString('en'))
      : undefined,
    widget === 'lines' ? t.lines : undefined,
    typeof maxItems === 'number' && widget === 'lines' ? t.items.replace('{n}', String(maxItems)) : undefined,
    widget === 'json' ? t.json : undefined,
  ]
  return parts.filter((part) => part !== undefined).join(' ')
}
/** Nobody comes near a shorter bound without a reason. */
const MENTIONED = 100
