// The identity provider: whose people sign in through it, and what their groups may do here.
import type { IdentityProviderRecord } from '../../../../schemas/identity-provider.ts'
import { ROLES } from '../../../../schemas/role.ts'
import { Code } from '../../site/components/code.tsx'
import { State } from '../../site/components/state.tsx'
import { Area, Box, Choice, forForm, linesOf, SecretField, textOf } from '../components/fields.tsx'
import { Field, Form, Refusal } from '../components/form.tsx'
import { doneWord, Said } from '../components/said.tsx'
import { defineConsolePage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'
import { providerTexts } from '../texts/provider.ts'

interface ProviderData {
  readonly provider: IdentityProviderRecord | null
  readonly redirect_uri: string
}

/** `group = role`, one a line. */
function rolesOf(form: URLSearchParams): { group: string; role: string }[] {
  return linesOf(form, 'roles').map((line) => {
    const at = line.lastIndexOf('=')
    return { group: line.slice(0, at).trim(), role: line.slice(at + 1).trim() }
  })
}

export const page = defineConsolePage<ProviderData>({
  load: async ({ call }) => (await call('gateway.identity_provider.get', {})) as ProviderData,
  actions: {
    async save(form, { call }) {
      const secret = form.get('secret_client') ?? ''
      const role = form.get('default_role') ?? ''
      await call('gateway.identity_provider.set', {
        enabled: form.has('enabled'),
        name: textOf(form, 'name') ?? '',
        issuer: textOf(form, 'issuer') ?? '',
        client_id: textOf(form, 'client_id') ?? '',
        ...(form.has('public') ? { client_secret: '' } : secret !== '' && { client_secret: secret }),
        scopes: textOf(form, 'scopes') ?? '',
        groups_claim: textOf(form, 'groups_claim') ?? '',
        roles: rolesOf(form),
        default_role: role === '' ? null : role,
      })
      return { goTo: '/console/identity-provider?done=saved' }
    },
  },
  title: (_data, { language }) => providerTexts[language].title,
  View({ data: { provider, redirect_uri: redirectUri }, page: whole }) {
    const page = forForm(whole, 'save')
    const t = providerTexts[page.language]
    const { roles } = consoleTexts[page.language]
    const lines = (provider?.roles ?? []).map(({ group, role }) => `${group} = ${role}`)
    return (
      <>
        <h1>{t.title}</h1>
        <p class="lead">{t.lead}</p>
        <Said word={doneWord(page)} words={t.said} />
        <Refusal page={whole} />
        <p>
          {provider === null ? (
            <State is="unknown" page={page} words={t.none} />
          ) : provider.enabled ? (
            <State is="done" page={page} words={t.offered} />
          ) : (
            <State is="waiting" page={page} words={t.off} />
          )}
        </p>
        <section class="stack" aria-labelledby="register">
          <h2 id="register">{t.register}</h2>
          <p class="muted">{t.registerHelp}</p>
          <Code text={redirectUri} page={page} label={t.redirectUri} />
        </section>
        <Form page={page} action="save" class="stack panel">
          <h2>{t.settings}</h2>
          <Field page={page} name="name" label={t.name} help={t.nameHelp} value={provider?.name} isRequired />
          <Field
            page={page}
            name="issuer"
            label={t.issuer}
            help={t.issuerHelp}
            value={provider?.issuer}
            type="url"
            isRequired
          />
          <Field page={page} name="client_id" label={t.clientId} value={provider?.client_id} isRequired />
          <SecretField
            name="secret_client"
            label={t.clientSecret}
            help={provider?.has_client_secret ? t.secretKept : t.secretHelp}
          />
          <Box page={page} name="public" label={t.isPublic} />
          <Field
            page={page}
            name="scopes"
            label={t.scopes}
            value={provider?.scopes ?? 'openid profile email'}
          />
          <Field
            page={page}
            name="groups_claim"
            label={t.groupsClaim}
            help={t.groupsHelp}
            value={provider?.groups_claim ?? 'groups'}
          />
          <Area
            page={page}
            name="roles"
            label={t.roles}
            help={t.rolesHelp}
            value={lines.join('\n')}
            rows={5}
          />
          <Choice
            page={page}
            name="default_role"
            label={t.defaultRole}
            value={provider?.default_role ?? ''}
            options={[
              { value: '', label: t.nobody },
              ...ROLES.filter((role) => role !== 'owner').map((value) => ({ value, label: roles[value] })),
            ]}
          />
          <Box page={page} name="enabled" label={t.enabled} isChecked={provider?.enabled ?? true} />
          <p class="muted">{t.checked}</p>
          <p>
            <button class="primary">{consoleTexts[page.language].save}</button>
          </p>
        </Form>
      </>
    )
  },
})
