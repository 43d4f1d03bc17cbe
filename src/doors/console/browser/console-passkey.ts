// Forms that a passkey answers (components/passkey.tsx): the challenge is fetched when the button is pressed, the device is asked, and then
// the form goes like any other.
import { makePasskey, type PasskeyWords, send, usePasskey, wordsOf } from './lib/passkey.ts'

function hold(form: HTMLFormElement): void {
  const { passkey: kind, ask = '', words = '{}', to = '' } = form.dataset
  const said = JSON.parse(words) as PasskeyWords
  const button = form.querySelector('button')
  const fault = form.querySelector('[role=alert]')
  const field = form.elements.namedItem('secret_answer')
  const csrf = form.elements.namedItem('_csrf')
  if (!button || !fault || !(field instanceof HTMLInputElement) || !(csrf instanceof HTMLInputElement)) return
  button.disabled = false

  form.addEventListener('submit', (event) => {
    if (field.value !== '') return
    event.preventDefault()
    button.disabled = true
    fault.textContent = ''
    send<object>(to, { _csrf: csrf.value, _action: ask })
      .then((options) => (kind === 'make' ? makePasskey(options, said) : usePasskey(options, said)))
      .then(
        (answer) => {
          field.value = answer
          form.submit()
        },
        (thrown: unknown) => {
          fault.textContent = wordsOf(thrown, said)
        },
      )
      .finally(() => {
        button.disabled = false
      })
  })
  // Whoever comes back to the page by the browser's history finds it as it was before.
  addEventListener('pageshow', () => (field.value = ''))
}

/** A form that was refused until the person shows again that it is them (components/fresh.tsx): the passkey, then the form. */
function showAgain(form: HTMLFormElement): void {
  const { again: to = '', words = '{}' } = form.dataset
  const said = JSON.parse(words) as PasskeyWords
  const button = form.querySelector<HTMLButtonElement>('button[data-passkey]')
  const fault = form.querySelector('[role=alert]')
  const csrf = form.elements.namedItem('_csrf')
  if (!button || !fault || !(csrf instanceof HTMLInputElement)) return
  const page = { _csrf: csrf.value }

  button.addEventListener('click', () => {
    button.disabled = true
    fault.textContent = ''
    send<object>(to, { ...page, _action: 'ask_again' })
      .then((options) => usePasskey(options, said))
      .then((answer) => send(to, { ...page, _action: 'again', by_script: '1', secret_answer: answer }))
      .then(
        () => form.submit(),
        (thrown: unknown) => {
          fault.textContent = wordsOf(thrown, said)
        },
      )
      .finally(() => {
        button.disabled = false
      })
  })
}

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-passkey]')) hold(form)
for (const form of document.querySelectorAll<HTMLFormElement>('form[data-again]')) showAgain(form)
