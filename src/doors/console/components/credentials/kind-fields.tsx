// What a kind of credential is asked for besides its secret.
import type { VNode } from 'preact'
import { KIND_FORMS, type KindField, type KindName } from '../../credentials/kinds.ts'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts } from '../../texts/credentials.ts'
import { Area, Choice } from '../fields.tsx'
import { Field } from '../form.tsx'

/** What must be given first, the rest in a fold. */
export function KindFields({
  page,
  kind,
}: {
  readonly page: ConsoleContext
  readonly kind: Exclude<KindName, 'text' | 'texts'>
}): VNode {
  const t = credentialTexts[page.language]
  const { fields } = KIND_FORMS[kind]
  const isFirst = ({ isRequired, name }: KindField) => isRequired === true || SHOWN.has(name)
  const others = fields.filter((field) => !isFirst(field))
  return (
    <>
      <div class="console-pair">
        {fields.filter(isFirst).map((field) => (
          <Member page={page} field={field} />
        ))}
      </div>
      {others.length > 0 && (
        <details>
          <summary>{t.optional}</summary>
          <div class="console-pair">
            {others.map((field) => (
              <Member page={page} field={field} />
            ))}
          </div>
        </details>
      )}
    </>
  )
}

/** Optional for the gateway, and wanted by nearly everybody. */
const SHOWN: ReadonlySet<string> = new Set(['scopes', 'client_authentication', 'headers'])

function Member({ page, field }: { readonly page: ConsoleContext; readonly field: KindField }): VNode {
  const t = credentialTexts[page.language]
  const { name, input, isRequired, options = [] } = field
  const common = {
    page,
    name: `kind.${name}`,
    label: t.fields[name] ?? name,
    ...(t.fieldHelp[name] !== undefined && { help: t.fieldHelp[name] }),
  }
  if (input === 'choice')
    return (
      <Choice
        {...common}
        options={[
          ...(isRequired ? [] : [{ value: '', label: t.usual }]),
          ...options.map((value) => ({ value, label: value })),
        ]}
      />
    )
  if (input === 'area' || input === 'pairs')
    return <Area {...common} rows={2} isRequired={isRequired === true} />
  return <Field {...common} isRequired={isRequired === true} />
}
