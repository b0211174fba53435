"""What the name of a column says about it.

A name is split into words (``dateOfBirth`` and ``date_of_birth`` are the same three). A word of the vocabulary counts
when it is one of them; a stem, when the words written together contain it. Earlier entries win: a column
``date_of_diagnosis`` is a date first. The vocabulary is a help for a draft and decides nothing by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")


@dataclass(frozen=True)
class Meaning:
    """What a column seems to hold."""

    sort: str
    """``direct``: names a person by itself. ``date``, ``secret``, ``known``: a date, something people keep to
    themselves, something that others may know. ``number``: a running number or code, of what is not said."""
    what: str
    """In words, for the comment."""
    shared: bool = False
    """Whether different people may well have the same one, as with names and addresses."""


@dataclass(frozen=True)
class _Entry:
    meaning: Meaning
    words: frozenset[str]
    stems: tuple[str, ...]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _entry(sort: str, what: str, words: str, stems: str = "", *, shared: bool = False) -> _Entry:
    return _Entry(Meaning(sort, what, shared), _set(words), tuple(stems.split()))


_NUMBER_WORDS = _set("id ids no nr num number nummer key code ref reference uuid guid identifier")
_PERSON_WORDS = _set(
    "patient pat person people customer cust client employee emp staff worker user subject member student pupil "
    "participant respondent resident citizen voter beneficiary insured insurance policy account card passport contract "
    "record case encounter episode visit stay order invoice transaction sample specimen subj proband probanden "
    "teilnehmer kunde kunden patienten versicherten versicherung versicherungs fall aufnahme akten mitarbeiter "
    "mitglieds personal matrikel steuer ausweis vertrags konto"
)

_ENTRIES = (
    _entry("direct", "a number given to one person or event", "pid pids ptid subjid usubjid fallnr aktenzeichen"),
    _entry("direct", "a person's name", "surname forename firstname lastname fullname nachname vorname prenom apellido "
           "nombre nickname", "surname forename firstname lastname fullname givenname familyname maidenname birthname "
           "middlename nachname vorname geburtsname patientname customername clientname username", shared=True),
    _entry("direct", "an e-mail address", "email mail", "emailadd"),
    _entry("direct", "a telephone number", "phone tel telephone telefon mobile fax cellphone handy",
           "telephone telefon phonen mobilen"),
    _entry("direct", "a postal address", "address addr adresse street strasse straße rue calle", "streetname address",
           shared=True),
    _entry("direct", "an official or account number", "ssn nino nhs svnr passport iban bic tin vin cpf curp",
           "socialsecurity nationalid insurancen taxid taxnumber passportn driverslicen driverlicen drivinglicen "
           "licenseplate licenceplate numberplate accountn creditcard cardnumber"),
    _entry("direct", "a medical record number", "mrn", "medicalrecord recordnumber hospitalnumber"),
    _entry("direct", "an account or device on the internet", "ip imei mac url website homepage login twitter facebook",
           "ipaddress macaddress deviceid userid"),
    _entry("direct", "an image or bodily mark of a person", "photo picture portrait fingerprint signature iris"),
    _entry("direct", "free text about a person", "note notes remark remarks comment comments annotation bemerkung "
           "bemerkungen notiz notizen kommentar anmerkung", "freetext comment remark freitext bemerkung", shared=True),
    _entry("date", "a date or time", "date datum dates day timestamp datetime time dob dod yob", "dateof birthdate "
           "birthday geburtsdatum admissiondate dischargedate"),
    _entry("secret", "a matter of health", "icd dx diag hiv aids std drg result results dna cancer diabetes drug "
           "drugs health", "icdcode dxcode diagcode diagnos disease illness condition sickness krankheit erkrankung "
           "befund maladie testresult labresult symptom medication medicine medikament prescription treatment therap "
           "surgery procedure allerg disab genetic genom psych mental pregnan abortion tumour tumor causeofdeath"),
    _entry("secret", "a matter of money", "salary wage wages income pay debt debts earnings gehalt lohn",
           "salary income earning wealth networth creditscore einkommen"),
    _entry("secret", "a belief, conviction or orientation", "religion faith belief party vote voted union confession",
           "religio sexualor orientation politic ideolog"),
    _entry("secret", "a matter of law", "crime crimes offence offense conviction arrest verdict", "criminal convict"),
    _entry("known", "an age", "age ages alter edad", "agegroup ageyears ageclass lebensalter altersgruppe "
           "altersklasse"),
    _entry("known", "a birth", "birth born", "birth geburt naissance"),
    _entry("known", "a sex or gender", "sex gender geschlecht sexe", "gender"),
    _entry("known", "a place", "zip plz cp postcode postal city town village municipality county district region state "
           "province canton bundesland country ort stadt wohnort land place residence location lat latitude lon lng "
           "longitude geo gps tract block native", "zipcode postcode postalcode postleitzahl nativecountry birthplace "
           "municipal"),
    _entry("known", "an origin or citizenship", "race nationality citizenship origin language ethnicity caste tribe",
           "ethnic national citizen immigra mothertongue"),
    _entry("known", "a family situation", "marital married relationship spouse household family children kids "
           "dependents siblings widowed", "marital civilstatus householdsize familienstand numberofchild"),
    _entry("known", "schooling", "education degree school university college grade", "educat schooling bildung"),
    _entry("known", "work", "occupation job profession employer employment industry workclass title position rank "
           "military veteran department beruf", "occupation profession employ workclass jobtitle"),
    _entry("known", "a bodily feature that can be seen", "height weight bmi eye eyes hair skin", "haircolo eyecolo"),
    _entry("known", "a stay or visit", "admission discharge visit arrival departure", "admission discharge"),
    _entry("direct", "a name", "name names nom", shared=True),
    _entry("number", "a number or code of its own", "id ids uuid guid identifier key ref reference nr no number code "
           "index row rownum serial barcode"),
)  # fmt: skip


def words_of(name: str) -> list[str]:
    """The words of a column's name, in small letters."""
    return [word.casefold() for part in _CAMEL.split(name) for word in _WORD.findall(part)]


def meaning_of(name: str) -> Meaning | None:
    """What the name suggests; ``None`` when it says nothing that is known."""
    words = set(words_of(name))
    joined = "".join(words_of(name))
    together = any(joined.endswith(word) and joined.removesuffix(word) in _PERSON_WORDS for word in _NUMBER_WORDS)
    if together or (words & _NUMBER_WORDS and words & _PERSON_WORDS):
        return Meaning("direct", "a number given to one person or event")
    for entry in _ENTRIES:
        if words & entry.words or any(stem in joined for stem in entry.stems):
            return entry.meaning
    return None


def is_postal(name: str) -> bool:
    """Whether the name is that of a postal code, whose first characters are the larger area."""
    joined = "".join(words_of(name))
    return bool({"zip", "plz", "cp"} & set(words_of(name))) or any(
        stem in joined for stem in ("zipcode", "postcode", "postalcode", "postleitzahl")
    )
