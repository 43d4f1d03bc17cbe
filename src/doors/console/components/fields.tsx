// Fields beside the one-line one of form.tsx: areas, choices, boxes, secrets and budgets. Each keeps what was typed where the form was
// refused, but for secrets, whose names begin with `secret` and which are never sent back.
import type { ComponentChildren, VNode } from 'preact'
import type { ConsoleContext } from '../ports.ts'

type Kept = Pick<ConsoleContext, 'refused'>

interface LabelledProps {
  readonly name: string
  readonly label: string
  readonly help?: string | undefined
  readonly children: ComponentChildren
}

function Labelled({ name, label, help, children }: LabelledProps): VNode {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {help !== undefined && (
        <span class="muted small" id={`${name}-help`}>
          {help}
        </span>
      )}
    </label>
  )
}

interface AreaProps extends Omit<LabelledProps, 'children'> {
  readonly page: Kept
  readonly value?: string | undefined
  readonly rows?: number
  readonly isRequired?: boolean
}

const describedBy = (name: string, help: string | undefined) =>
  help === undefined ? {} : { 'aria-describedby': `${name}-help` }

/** Several lines of text, from left to right: hosts, paths, JSON. */
export const Area = ({ page, name, label, help, value, rows = 3, isRequired }: AreaProps): VNode => (
  <Labelled {...{ name, label, help }}>
    <textarea
      name={name}
      rows={rows}
      dir="ltr"
      spellcheck={false}
      autoComplete="off"
      required={isRequired}
      {...describedBy(name, help)}
      defaultValue={page.refused?.form.get(name) ?? value ?? ''}
    />
  </Labelled>
)

interface SecretFieldProps extends Omit<LabelledProps, 'children' | 'name'> {
  readonly name: `secret${string}`
  readonly isRequired?: boolean
  /** A key file has several lines. */
  readonly hasLines?: boolean
}

/** A secret: written, and never shown again. */
export const SecretField = ({ name, label, help, isRequired, hasLines }: SecretFieldProps): VNode => (
  <Labelled {...{ name, label, help }}>
    {hasLines ? (
      <textarea
        name={name}
        rows={4}
        dir="ltr"
        class="secret"
        spellcheck={false}
        autoComplete="off"
        required={isRequired}
        {...describedBy(name, help)}
      />
    ) : (
      <input
        name={name}
        type="password"
        dir="ltr"
        spellcheck={false}
        autoComplete="new-password"
        required={isRequired}
        {...describedBy(name, help)}
      />
    )}
  </Labelled>
)

interface ChoiceProps extends Omit<LabelledProps, 'children'> {
  readonly page: Kept
  readonly value?: string | undefined
  readonly options: readonly { readonly value: string; readonly label: string }[]
}

/** One of a few. */
export function Choice({ page, name, label, help, value, options }: ChoiceProps): VNode {
  const chosen = page.refused?.form.get(name) ?? value
  return (
    <Labelled {...{ name, label, help }}>
      <select name={name} {...describedBy(name, help)}>
        {options.map((option) => (
          <option value={option.value} selected={option.value === chosen}>
            {option.label}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

interface BoxesProps {
  readonly page: Kept
  readonly name: string
  readonly label: string
  readonly options: readonly string[]
  readonly chosen: readonly string[]
}

/** Some of a few, each with its own word. */
export function Boxes({ page, name, label, options, chosen }: BoxesProps): VNode {
  const kept = page.refused ? page.refused.form.getAll(name) : chosen
  return (
    <fieldset class="boxes">
      <legend>{label}</legend>
      <div class="row" dir="ltr">
        {options.map((option) => (
          <label>
            <input type="checkbox" name={name} value={option} checked={kept.includes(option)} /> {option}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

/** Yes or no. */
export const Box = ({
  page,
  name,
  label,
  isChecked = false,
}: {
  readonly page: Kept
  readonly name: string
  readonly label: string
  readonly isChecked?: boolean
}): VNode => (
  <label class="console-box">
    <input
      type="checkbox"
      name={name}
      value="on"
      checked={page.refused ? page.refused.form.has(name) : isChecked}
    />{' '}
    {label}
  </label>
)

/** The page as one of its forms sees it: what was refused of another form is not filled into this one. */
export const forForm = (page: ConsoleContext, action: string): ConsoleContext =>
  page.refused?.form.get('_action') === action ? page : { ...page, refused: undefined }

/** The lines of an area, without empty ones. */
export const linesOf = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** Words of a line, between spaces or commas. */
export const wordsOf = (form: URLSearchParams, name: string): string[] =>
  (form.get(name) ?? '').split(/[\s,]+/).filter((word) => word !== '')

/** What was typed, without the spaces around it; undefined where that is nothing. */
export function textOf(form: URLSearchParams, name: string): string | undefined {
  const text = form.get(name)?.trim()
  return text === undefined || text === '' ? undefined : text
}
