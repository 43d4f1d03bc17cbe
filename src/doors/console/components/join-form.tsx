// Joining by invitation. The invitation stands behind `#` in the address, where only a script reads it, so this part is nothing without one.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Role } from '../../../../schemas/role.ts'
import { Visible } from '../../site/components/foreign.tsx'
import type { Language } from '../../site/routes.ts'
import { signInTexts } from '../texts/sign-in.ts'

export interface JoinFacts {
  readonly name: string
  readonly role: Role
  readonly account: string
  readonly isForMember: boolean
}

export interface JoinFormProps {
  readonly language: Language
  readonly roles: Readonly<Record<Role, string>>
  readonly to: string
  readonly csrf: string
  /** Of whoever is signed in already. */
  readonly signedInAs: string | null
}

/** The hands of it in a browser. */
export interface JoinHands {
  /** The invitation of the address, which is then forgotten by it. */
  takeInvitation(): string | undefined
  look(invitation: string): Promise<JoinFacts>
  /** The new passkey. */
  make(invitation: string, name: string): Promise<{ personId: string; answer: string }>
  wordsOf(thrown: unknown): string
}

export function JoinForm({
  language,
  roles,
  to,
  csrf,
  signedInAs,
  hands,
}: JoinFormProps & { readonly hands?: JoinHands }): VNode {
  const t = signInTexts[language]
  const [invitation, setInvitation] = useState<string>()
  const [facts, setFacts] = useState<JoinFacts>()
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)

  useEffect(() => {
    const token = hands?.takeInvitation()
    if (!hands || token === undefined) {
      setFault(t.noInvitation)
      return
    }
    setInvitation(token)
    hands.look(token).then(setFacts, (thrown: unknown) => setFault(hands.wordsOf(thrown)))
    // Once: the address holds it no more.
  }, [hands, t.noInvitation])

  /** Whoever is signed in joins as they are; the link for a new passkey makes one all the same. */
  const isOther = signedInAs !== null && facts?.isForMember === false

  async function submit(event: SubmitEvent): Promise<void> {
    const element = form.current
    if (!element || !hands || invitation === undefined || isOther) return
    event.preventDefault()
    const field = (name: string) => element.elements.namedItem(name) as HTMLInputElement
    setBusy(true)
    setFault(undefined)
    try {
      const { personId, answer } = await hands.make(invitation, field('name').value)
      field('person').value = personId
      field('secret_answer').value = answer
      element.submit()
    } catch (thrown) {
      setFault(hands.wordsOf(thrown))
      setBusy(false)
    }
  }

  const said = (
    <p role="alert" class="fault">
      {fault}
    </p>
  )
  if (!facts || invitation === undefined)
    return <div class="stack needs-script">{fault === undefined ? <p>{t.reading}</p> : said}</div>
  return (
    <form
      ref={form}
      method="post"
      action={to}
      class="stack"
      onSubmit={(event) => void submit(event as SubmitEvent)}
    >
      <p class="lead">
        {facts.isForMember ? (
          t.invitedAgain
        ) : (
          <bdi>
            <Visible text={t.invited(roles[facts.role], facts.account)} />
          </bdi>
        )}
      </p>
      <input type="hidden" name="_csrf" value={csrf} />
      <input type="hidden" name="_action" value={isOther ? 'join_as' : 'join'} />
      <input type="hidden" name="secret_invitation" value={invitation} />
      <input type="hidden" name="person" value="" />
      <input type="hidden" name="secret_answer" value="" />
      {isOther ? (
        <button class="primary">{t.joinAs(signedInAs)}</button>
      ) : (
        <>
          <label class="field">
            <span>{t.yourName}</span>
            <input
              name="name"
              defaultValue={facts.name}
              required
              maxLength={100}
              autoComplete="name"
              readOnly={facts.isForMember}
              aria-describedby="name-help"
            />
            <span class="muted small" id="name-help">
              {t.nameHelp}
            </span>
          </label>
          <button class="primary" disabled={isBusy}>
            {isBusy ? t.asking : t.makePasskey}
          </button>
          <p class="muted small">{t.whatPasskey}</p>
        </>
      )}
      {said}
    </form>
  )
}
