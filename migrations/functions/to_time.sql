-- A timestamp of the API; null for any other text, also for days that do not exist: one object must not keep the others
-- from being shown. Most timestamps are in whole seconds of the first 28 days of a month, and are recognized without a
-- regular expression, which takes ten times as long.
create or replace function plinth.to_time(p_text text) returns timestamptz
language sql stable parallel safe
return case
  when translate(p_text, '0123456789', '0000000000') = '0000-00-00T00:00:00Z' and not starts_with(p_text, '0000')
      and substr(p_text, 6, 2) between '01' and '12' and substr(p_text, 9, 2) between '01' and '28'
      and substr(p_text, 12, 2) <= '23' and substr(p_text, 15, 1) <= '5' and substr(p_text, 18, 1) <= '5'
    or p_text ~ '^(?!0000)([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]{1,6})?Z$'
    then p_text::timestamptz
end;
