import { assert, describe, it } from "@effect/vitest"
import { isVoicemailGreeting } from "../../src/turn/voicemail.ts"

const machines = [
  "Hi, you've reached Anna. Please leave a message after the beep.",
  "Hello, this is Tom, I can't take your call right now, leave your name and number",
  "The person you are trying to reach is not available. At the tone, please record your message.",
  "Your call has been forwarded to an automatic voice message system.",
  "your call has been forwarded to an automated voice messaging system one four one five is not available",
  "You have reached the voicemail of Doctor Green's office",
  "You have reached the mailbox of five five five one two one two",
  "I'm not available right now but if you leave me a message I'll call you back as soon as possible",
  "We are unable to come to the phone at the moment",
  "Sorry I missed you, please leave a short message and I will get back to you as soon as I can",
  "The subscriber you have called is not available, please try again later",
  "When you have finished recording you may hang up or press one for more options",
  "The voice mailbox is full and cannot accept messages, mailbox is full",
  "Hallo, hier ist die Mailbox von Anna. Bitte hinterlassen Sie eine Nachricht nach dem Signalton.",
  "Der Teilnehmer ist derzeit nicht erreichbar",
  "Guten Tag, ich bin gerade nicht zu erreichen, nach dem Piep könnt ihr sprechen",
  "Bonjour, vous êtes bien sur la messagerie de Marie. Laissez un message après le bip.",
  "Laissez-moi un message, je vous rappelle",
  "Hola, deje su mensaje después de la señal",
  "Ha llamado al buzón de voz de Pedro"
]

const people = [
  "Hello?",
  "Hello, who is this?",
  "Yes, speaking.",
  "Doctor Green's office, this is Sarah, how can I help you?",
  "Hi, um, can you call me back later? I'm driving.",
  "Is this about the message I left yesterday?",
  "Good morning, you have reached the Green clinic, how may I help you?",
  "Thank you for calling Mario's pizza, my name is Joe, pick up or delivery?",
  "I got your message, thanks for calling back.",
  "Hold on, let me write that down. What's your number?",
  "Who are you trying to reach?",
  "She's not here right now, can I take a message?",
  "I am not interested, thank you.",
  "Sorry, could you say that again?",
  "No, you have the wrong number.",
  "Hello? Hello? I can't hear you.",
  "Sure, Friday at ten sounds good, leave it at that.",
  "Press one? I don't have a keypad here.",
  "Ja, hallo, hier Schmidt.",
  "Wer ist da bitte? Ich habe gerade keine Zeit.",
  "Oui allô, qui est à l'appareil ?",
  "Diga, ¿quién es?",
  "This is the front desk, one moment please, I'll get the doctor for you, he is in the next room.",
  "I'm not sure I'm available on Monday, what about Tuesday?"
]

describe("answering machines", () => {
  it.each(machines)("knows %s", (said) => assert.isTrue(isVoicemailGreeting(said)))
  it.each(people)("takes a person for a person: %s", (said) => assert.isFalse(isVoicemailGreeting(said)))
})
