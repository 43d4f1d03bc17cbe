// Where the secret of a credential is typed: one text, parts that a kind or a provider names, or texts that the operator names.
import type { VNode } from 'preact'
import { KIND_FORMS, type KindName, type KindPart } from '../../credentials/kinds.ts'
import { NAMED_ROWS } from '../../credentials/read.ts'
import type { ConsoleContext } from '../../ports.ts'
import { credentialTexts, fill } from '../../texts/credentials.ts'
import { Area, Box, SecretField } from '../fields.tsx'
import { Field } from '../form.tsx'

interface SecretFieldsProps {
  readonly page: ConsoleContext
  readonly kind: KindName
  /** Parts that a provider names, or those of the credential whose secret is replaced. */
  readonly named?: Readonly<Record<string, 'secret' | 'public'>> | undefined
}

export function SecretFields({ page, kind, named }: SecretFieldsProps): VNode {
  const t = credentialTexts[page.language]
  if (named) {
    const parts = Object.entries(named).map(([name, is]) => ({
      name,
      // Left out of a replacement, the newest one stays.
      ...(!(kind === 'oauth2_refresh_token' && name === 'refresh_token') && { isRequired: true as const }),
      ...(is === 'public' && { isPublic: true as const }),
      ...(PEM.has(name) && { hasLines: true as const }),
    }))
    const further = kind === 'text' || kind === 'texts' ? [] : KIND_FORMS[kind].parts
    const others = further.filter(({ name }) => !Object.hasOwn(named, name))
    return <Parts page={page} parts={[...parts, ...others]} />
  }
  if (kind === 'text') return <SecretField name="secret" label={t.secret} help={t.writeOnly} />
  if (kind === 'texts') return <NamedRows page={page} />
  return (
    <>
      <Parts page={page} parts={KIND_FORMS[kind].parts} />
      {kind === 'hmac' && (
        <details>
          <summary>{t.kinds['texts']}</summary>
          <NamedRows page={page} />
        </details>
      )}
    </>
  )
}

/** Parts that are key files, whatever names them. */
const PEM: ReadonlySet<string> = new Set(['private_key', 'client_certificate', 'client_key'])

function Parts({
  page,
  parts,
}: {
  readonly page: ConsoleContext
  readonly parts: readonly KindPart[]
}): VNode {
  const t = credentialTexts[page.language]
  return (
    <>
      {parts.map(({ name, isPublic, isRequired, hasLines }) => {
        const label = `${t.parts[name] ?? name}${isRequired ? '' : ` (${t.optional})`}`
        if (isPublic && !hasLines)
          return <Field page={page} name={`public.${name}`} label={label} isRequired={isRequired === true} />
        return (
          <SecretField
            name={`secret.${name}`}
            label={label}
            isRequired={isRequired === true}
            hasLines={hasLines === true}
          />
        )
      })}
      <p class="muted small">{t.writeOnly}</p>
    </>
  )
}

function NamedRows({ page }: { readonly page: ConsoleContext }): VNode {
  const t = credentialTexts[page.language]
  return (
    <div class="stack">
      {Array.from({ length: NAMED_ROWS }, (_, row) => {
        const n = String(row + 1)
        return (
          <div class="console-pair">
            <Field page={page} name={`name.${row}`} label={fill(t.partName, { n })} />
            <SecretField name={`secret-row.${row}`} label={fill(t.partValue, { n })} />
            <Box page={page} name={`is-public.${row}`} label={t.partPublic} />
          </div>
        )
      })}
      <p class="muted small">{t.writeOnly}</p>
    </div>
  )
}

/** A client certificate, beside the secret or in its place. */
export function CertificateFields({ page }: { readonly page: ConsoleContext }): VNode {
  const t = credentialTexts[page.language]
  return (
    <>
      <Area page={page} name="ca" label={t.ca} help={t.caHelp} />
      <SecretField name="secret.client_certificate" label={t.parts['client_certificate'] ?? ''} hasLines />
      <SecretField name="secret.client_key" label={t.parts['client_key'] ?? ''} hasLines />
    </>
  )
}
